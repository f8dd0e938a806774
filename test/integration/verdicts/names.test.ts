import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { AutomationNames } from '../../../internal/queue/keys/automation-names.ts';
import { listDeclarations } from '../../../internal/record/declaration.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { Cleaner } from '../../../internal/controller/verdicts/cleaner.ts';
import { NameKeeper } from '../../../internal/controller/verdicts/name-keeper.ts';
import { anEvent } from '../../support/events.ts';
import { declare, tickAt } from '../../support/expectations.ts';
import { at, told, when } from '../../support/one-day.ts';
import { pingKey } from '../../support/pipeline.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { emptyRedis } from '../../support/servers.ts';
import { deleteExecutions, eachDatabase } from '../../support/store.ts';
import { suiteIngest } from '../../support/suite-ingest.ts';
import { secondsAgo, taskRun, tektonHeaders } from '../../support/tekton-events.ts';

const [first, second] = ['0190a0b0-0000-7000-8000-000000000001', '0190a0b0-0000-7000-8000-000000000002'] as const;

describe('the names that tools give to automations', () => {
  const database = eachDatabase();
  const suite = suiteIngest();
  const { logger } = recordingLogger();

  async function keep(note?: (names: AutomationNames) => void): Promise<void> {
    await suite.redis.use(async (redis) => {
      const names = new AutomationNames(redis, 'events');
      note?.(names);
      await new NameKeeper({ names, databaseOf: () => database.db, logger }).runOnce();
      expect((await names.read()).size).to.equal(0);
    });
  }
  const namesOf = async (organization = 'acme'): Promise<Record<string, string>> => {
    const declarations = await listDeclarations(database.db, organization);
    return Object.fromEntries(declarations.map(({ automation, display_name }) => [automation, display_name]));
  };

  it('come from OpenLineage, Tekton and slugs, and not from ids', async () => {
    const { client } = suite.ingest;
    const lineage = (eventType: string) => ({
      eventType,
      eventTime: new Date().toISOString(),
      run: { runId: randomUUID() },
      job: { namespace: 'shop', name: 'orders.daily' },
    });
    await client.register(lineage('START'), {}, undefined, '/api/v1/lineage');
    await client.register([lineage('COMPLETE')], {}, undefined, '/api/v1/lineage/batch');
    const tekton = (metadata: object): Promise<unknown> => {
      const headers = tektonHeaders('taskrun.started', 'some-run', randomUUID(), secondsAgo(1));
      return client.register({ taskRun: taskRun(metadata) }, headers, undefined, '/v1/cloudevents/');
    };
    await tekton({});
    await tekton({ annotations: { 'runledger.dev/automation-id': first } });
    const ping = (automation: string): Promise<unknown> =>
      client.send({ path: `/ping/${pingKey}/${automation}`, headers: { token: undefined } });
    await Promise.all([ping('Nightly-Backup'), ping(second)]);
    await keep();
    expect(await namesOf()).to.deep.equal({
      '492e1057-3826-56f9-9237-31ae0e150386': 'shop/orders.daily',
      '7baeadaf-49d9-598e-8d17-8d8028c99956': 'default/task/curl',
      'bb735109-3bd2-5311-8252-11aeeb9ea0db': 'nightly-backup',
    });
  });

  it('are not those of events that were refused', async () => {
    await suite.redis.command('set', '{runledger}:events:id', 'so that no job can be added');
    const path = `/ping/${pingKey}/backup`;
    expect((await suite.ingest.client.send({ path, headers: { token: undefined } })).status).to.equal(503);
    await suite.redis.command('del', '{runledger}:events:id');
    await keep();
    expect(await namesOf()).to.deep.equal({});
  });

  it('may change, and never replace a declaration', async () => {
    await declare(database.db, { automationId: first });
    await keep((names) => {
      for (const automation of [first, second]) names.note('acme', automation.toUpperCase(), 'old');
      names.note('globex', first, 'of globex\0'.repeat(50));
    });
    await keep((names) => names.note('acme', second, 'new'));
    expect(await namesOf()).to.deep.equal({ [first]: 'Nightly invoices', [second]: 'new' });
    expect((await namesOf('globex'))[first]).to.equal('of globex\uFFFD'.repeat(20));
    const rows = await database.db.selectFrom('automations').select(['organization', 'declared']).execute();
    expect(rows).to.have.deep.members([
      { organization: 'acme', declared: true },
      { organization: 'acme', declared: false },
      { organization: 'globex', declared: false },
    ]);
  });

  it('are noted once an hour', async () => {
    await suite.redis.use(async (redis) => {
      const names = new AutomationNames(redis, 'events');
      const noted = async (now: number): Promise<number> => {
        names.note('acme', first, 'backup', now);
        const { size } = await names.read();
        await redis.flushall();
        return size;
      };
      expect([await noted(0), await noted(3_599_999), await noted(3_600_000)]).to.deep.equal([1, 0, 1]);
    });
  });

  it('are in the alerts of their automations, and stay until their last run is deleted', async () => {
    await tickAt(database.db, when('01:00'));
    await keep((names) => names.note('acme', first, 'backup'));
    await database.db
      .updateTable('automations')
      .set({ declared_at: new Date(at('00:00')) })
      .execute();
    const event = (time: string, kind: 'START' | 'ERROR' | 'END', executionId: string) =>
      recordEvents(database.db, [anEvent({ automationId: first, createdAt: at(time), kind, executionId })]);
    expect(told((await tickAt(database.db, when('01:00:30'))).transitions)).to.deep.equal([]);
    await event('01:01', 'START', 'a');
    await event('01:02', 'ERROR', 'a');
    const { transitions } = await tickAt(database.db, when('01:03'));
    expect(told(transitions)).to.deep.equal(['opened failing failing']);
    expect(transitions[0]?.automation).to.include({ displayName: 'backup' });
    await event('01:10', 'START', 'b');
    await event('01:11', 'END', 'b');
    expect(told((await tickAt(database.db, when('01:12'))).transitions)).to.deep.equal(['resolved failing failing']);
    const cleaner = new Cleaner({ db: database.db, retentionDays: 0, logger });
    for (const named of [{ [first]: 'backup' }, {}]) {
      await tickAt(database.db, when('01:00') + 30 * 86_400_000);
      await cleaner.runOnce();
      expect(await namesOf()).to.deep.equal(named);
      await deleteExecutions(database.db);
      await database.db
        .updateTable('automations')
        .set({ declared_at: new Date(0) })
        .execute();
    }
  });

  it('do not wait in a Redis that no controller reads', async () => {
    const redis = await emptyRedis();
    await redis.use(async (client) => {
      const names = new AutomationNames(client, 'events');
      await client.eval("for i = 1, 20000 do redis.call('HSET', KEYS[1], i, i) end", 1, '{runledger}:events:names');
      names.note('acme', first, 'backup');
      expect(await client.hlen('{runledger}:events:names')).to.equal(20_000);
    });
  });
});
