import { expect } from 'chai';
import * as fc from 'fast-check';
import { sql } from 'kysely';
import type { AcceptedEvent } from '../../../internal/event/event.ts';
import { compactBefore } from '../../../internal/store/compacted/compact.ts';
import { everyExecution } from '../../../internal/store/compacted/expanded.ts';
import type { Database } from '../../../internal/store/database.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { anEvent, someEvent } from '../../support/events.ts';
import { day } from '../../support/maintenance-day.ts';
import { executionsOf, keyText } from '../../support/outcome-oracle.ts';
import { noon } from '../../support/reading.ts';
import { eachDatabase, executionOf, migratedDatabase, openDatabase, wrongRunning } from '../../support/store.ts';
import type { ExecutionsTable } from '../../../internal/store/tables/executions-table.ts';
import type { Selectable } from '../../../internal/store/sql.ts';

/** Three executions make a block, and the newest one of each automation stays a row. */
const sizes = { newest: 1, block: 3 };
const hottest = noon + 30 * day;

const everyRow = async (db: Database): Promise<Selectable<ExecutionsTable>[]> => {
  const { rows } = await sql<Selectable<ExecutionsTable>>`
    select * from (${everyExecution('acme')}) as all_of_them order by automation_id, execution_id
  `.execute(db);
  return rows;
};

const counted = async (db: Database): Promise<{ rows: number; compacted: number; keys: number }> => {
  const { rows } = await sql<{ rows: number; compacted: number; keys: number }>`
    select (select count(*)::integer from executions) as rows,
      (select coalesce(sum(executions), 0)::integer from compacted_executions) as compacted,
      (select count(*)::integer from compacted_keys) as keys
  `.execute(db);
  return rows[0] ?? { rows: NaN, compacted: NaN, keys: NaN };
};

const expectNoOverlap = async (db: Database): Promise<void> => {
  const { rows } = await sql`
    select a.id from compacted_executions a join compacted_executions b using (organization, automation_id)
    where a.id <> b.id and a.newest >= b.oldest and a.oldest <= b.newest
  `.execute(db);
  expect(rows).to.deep.equal([]);
};

/** Some of the ids are UUIDs. */
const idOf = (at: number): string =>
  at % 3 === 0 ? `run ${at}` : `0190a0b0-0000-7000-8000-${String(at).padStart(12, '0')}`;

/** Events of forty executions over two weeks. */
const someEvents = fc.array(someEvent, { minLength: 100, maxLength: 200 }).map((events) =>
  events.map(({ occurredAt, ...event }, at): AcceptedEvent => {
    const run = at % 40;
    const shift = (run % 14) * day;
    const occurred = occurredAt && Math.max(occurredAt, event.createdAt - day) + shift;
    return {
      ...event,
      executionId: idOf(run),
      createdAt: event.createdAt + shift,
      ...(occurred && { occurredAt: occurred }),
    };
  }),
);

describe('compacted executions', function suite() {
  this.timeout(120_000);
  const database = eachDatabase();

  it('are the same executions, whatever comes late and however often they are compacted', async () => {
    const property = fc.asyncProperty(fc.array(someEvents, { minLength: 2, maxLength: 4 }), async (rounds) => {
      await using fresh = await migratedDatabase();
      const { db } = fresh;
      const stored: AcceptedEvent[] = [];
      for (const events of rounds) {
        // Some of the last round come again.
        await recordEvents(db, [...events, ...stored.slice(-20)]);
        stored.push(...events);
        const before = await everyRow(db);
        await compactBefore(db, hottest, sizes);
        expect(await everyRow(db)).to.deep.equal(before);
        expect(new Map(before.map(executionOf).map((one) => [keyText(one), one]))).to.deep.equal(
          new Map([...executionsOf(stored)].filter(([, one]) => one.organization === 'acme')),
        );
        const { compacted, keys } = await counted(db);
        expect(keys).to.equal(compacted);
        expect(compacted).to.be.above(15);
        await expectNoOverlap(db);
        expect(await wrongRunning(db)).to.deep.equal([]);
      }
    });
    await fc.assert(property, { numRuns: Number(process.env['RUNS'] ?? 3), endOnFailure: true });
  });
});
