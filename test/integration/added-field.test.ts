import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { sql } from 'kysely';
import type * as eventModule from '../../internal/event/event.ts';
import type { AcceptedEvent } from '../../internal/event/event.ts';
import type * as validateModule from '../../internal/event/validate.ts';
import type * as idempotencyModule from '../../internal/queue/keys/idempotency.ts';
import type * as jobModule from '../../internal/queue/job/job.ts';
import type * as recordModule from '../../internal/store/record-events.ts';
import { fromRow, isRow, toRow, type Row } from '../../internal/queue/job/job.ts';
import { IdempotencyKeys, type Claim, type Keyed } from '../../internal/queue/keys/idempotency.ts';
import { anEvent } from '../support/events.ts';
import { failureOf } from '../support/failure.ts';
import { emptyRedis } from '../support/servers.ts';
import { migratedDatabase } from '../support/store.ts';

/** The whole change: one entry at the end of the table of fields. */
const entry = "{ property: 'place', request: 'place', recorded: 'place', column: 'place', maxLength: 9 },";

describe('a field added to the table of fields', function () {
  this.timeout(60_000);
  let root: string;

  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'runledger-field-'));
    for (const name of ['internal', 'cmd', 'package.json', 'tsconfig.json']) {
      await cp(name, join(root, name), { recursive: true });
    }
    await symlink(resolve('node_modules'), join(root, 'node_modules'));
    const table = join(root, 'internal/event/fields.ts');
    const text = await readFile(table, 'utf8');
    await writeFile(table, text.replace('] as const satisfies', `  ${entry}\n] as const satisfies`));
  });

  after(() => rm(root, { recursive: true }));

  /** A module of the changed tree. Its types are those of this tree. */
  const changed = <Module>(path: string): Promise<Module> => import(join(root, path)) as Promise<Module>;

  const eventLike = (event: AcceptedEvent, place: string): AcceptedEvent => ({ ...event, place }) as AcceptedEvent;
  const eventWith = (place: string): AcceptedEvent => eventLike(anEvent(), place);

  it('compiles', async () => {
    const tsc = resolve('node_modules/.bin/tsc');
    const output = await promisify(execFile)(tsc, ['--pretty', 'false', '--singleThreaded'], { cwd: root }).then(
      () => '',
      (error: unknown) => (error as { stdout: string }).stdout,
    );
    const files = new Set(Array.from(output.matchAll(/^(\S+?)\(/gm), ([, file]) => file));
    expect([...files]).to.deep.equal([]);
  });

  it('is validated, accepted and recorded', async () => {
    const { createEventValidator } = await changed<typeof validateModule>('internal/event/validate.ts');
    const { acceptEvent, recordedForm } = await changed<typeof eventModule>('internal/event/event.ts');
    const validate = createEventValidator();
    const body = { automation_id: anEvent().automationId, execution_id: 'run', event: 'START' };
    const record = (more: object) => recordedForm(acceptEvent(validate({ ...body, ...more }), 'acme', anEvent()));
    expect(record({ place: 'Paris' })).to.include({ place: 'Paris' });
    expect(record({})).to.include({ place: '' });
    const failure = await failureOf(Promise.resolve().then(() => record({ place: 'longer than 9' })));
    expect(failure).to.have.deep.property('faults', [
      { pointer: '/place', detail: 'must not be longer than 9 characters' },
    ]);
  });

  it('travels in jobs, which both releases can read', async () => {
    const job = await changed<typeof jobModule>('internal/queue/job/job.ts');
    const event = eventWith('Paris');
    expect(job.fromRow(job.toRow(event))).to.deep.equal(event);

    const newer: unknown = job.toRow(event);
    expect(isRow(newer)).to.equal(true);
    const { id } = fromRow(newer as Row);
    expect(id).to.equal(event.id);

    const older: unknown = toRow(event);
    expect(job.isRow(older)).to.equal(true);
    expect(job.fromRow(older as Row)).to.deep.equal(eventLike(event, ''));
  });

  it('is stored in its column', async () => {
    const { recordEvents } = await changed<typeof recordModule>('internal/store/record-events.ts');
    await using database = await migratedDatabase();
    const { db } = database;
    await sql`alter table events add column place text not null default ''`.execute(db);
    await recordEvents(db, [eventWith('Paris')]);
    const { rows } = await sql`select place from events`.execute(db);
    expect(rows).to.deep.equal([{ place: 'Paris' }]);
  });

  it('does not turn a keyed retry across the deploy into a 422, and tells other bodies apart afterwards', async () => {
    const newer = await changed<typeof idempotencyModule>('internal/queue/keys/idempotency.ts');
    const redis = new Redis((await emptyRedis()).url);
    try {
      const place = { redis, key: 'events' };
      const before = new IdempotencyKeys(() => [place], 60_000, { open: 1 });
      const after = new newer.IdempotencyKeys(() => [place], 60_000, { open: 1 });
      const keyed = (key: string, event: AcceptedEvent): Keyed => ({ key: ['caller', key], events: [event] });
      const reserve = async (keys: IdempotencyKeys, key: string, event: AcceptedEvent) =>
        (await keys.reserve(keyed(key, event))) as Claim;
      const event = eventWith('Paris');
      for (const [key, first, second] of [
        ['up', before, after],
        ['down', after, before],
      ] as const) {
        const claim = await reserve(first, key, event);
        expect(claim).to.deep.include({ events: [event], committed: false });
        first.markCommitted(claim);
        expect(await reserve(second, key, event)).to.deep.include({ events: [event], committed: true });
      }
      after.markCommitted(await reserve(after, 'same release', event));
      expect(await reserve(after, 'same release', event)).to.include({ committed: true });
      expect(await reserve(after, 'same release', eventLike(event, 'Rome'))).to.have.property(
        'code',
        'idempotency-key-reused',
      );
    } finally {
      redis.disconnect();
    }
  });
});
