import { expect } from 'chai';
import { sql, type Selectable } from 'kysely';
import type { AcceptedEvent } from '../../internal/event/event.ts';
import { everyExecution } from '../../internal/store/compacted/expanded.ts';
import type { Database } from '../../internal/store/database.ts';
import type { ExecutionsTable } from '../../internal/store/tables/executions-table.ts';
import { executionsOf, keyText, type Execution } from './outcome-oracle.ts';
import { executionOf, wrongRunning } from './store.ts';

/** All executions of acme, as rows. */
export const everyRow = async (db: Database): Promise<Selectable<ExecutionsTable>[]> => {
  const { rows } = await sql<Selectable<ExecutionsTable>>`
    select * from (${everyExecution('acme')}) as all_of_them order by automation_id, execution_id
  `.execute(db);
  return rows;
};

const byKey = (executions: Iterable<Execution>): Map<string, Execution> =>
  new Map([...executions].filter((one) => one.organization === 'acme').map((one) => [keyText(one), one]));

/** Executions that are rows, those in blocks, and keys of the latter. */
export const counted = async (db: Database): Promise<{ rows: number; compacted: number; keys: number }> => {
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

/**
 * Each execution is what its events say, and in one place; no two blocks of an automation overlap.
 */
export const expectRight = async (db: Database, stored: readonly AcceptedEvent[]): Promise<void> => {
  const rows = await everyRow(db);
  const found = byKey(rows.map(executionOf));
  expect(found).to.deep.equal(byKey(executionsOf(stored).values()));
  expect(rows).to.have.lengthOf(found.size);
  const { compacted, keys } = await counted(db);
  expect(keys).to.equal(compacted);
  await expectNoOverlap(db);
  expect(await wrongRunning(db)).to.deep.equal([]);
};
