import { expect } from 'chai';
import { sql, type Selectable } from 'kysely';
import type { AcceptedEvent } from '../../internal/event/event.ts';
import { compactBefore } from '../../internal/store/compacted/compact.ts';
import { everyExecution } from '../../internal/store/compacted/expanded.ts';
import type { Database } from '../../internal/store/database.ts';
import type { ExecutionsTable } from '../../internal/store/tables/executions-table.ts';
import { day } from './maintenance-day.ts';
import { executionsOf, keyText, type Execution } from './outcome-oracle.ts';
import { executionOf, wrongRunning } from './store.ts';

/** Three executions make a block, and the newest one of each automation stays a row. */
export const smallBlocks = { newest: 1, block: 3 };

/** Compacts all that has ended. The events must be in no partition of their own. */
export function compactAll(db: Database): ReturnType<typeof compactBefore> {
  return compactBefore(db, Date.now() + day, smallBlocks);
}

/** All executions of acme, wherever they are. */
export async function everyRow(db: Database): Promise<Selectable<ExecutionsTable>[]> {
  const { rows } = await sql<Selectable<ExecutionsTable>>`
    select * from (${everyExecution('acme')}) as every order by automation_id, execution_id
  `.execute(db);
  return rows;
}

/** How many executions are rows, how many are compacted, and how many keys these have. */
export async function countPlaces(db: Database): Promise<{ rows: number; compacted: number; keys: number }> {
  const { rows } = await sql<{ rows: number; compacted: number; keys: number }>`
    select (select count(*)::integer from executions where organization = 'acme') as rows,
      (select coalesce(sum(executions), 0)::integer from compacted_executions) as compacted,
      (select count(*)::integer from compacted_keys) as keys
  `.execute(db);
  return rows[0] ?? { rows: NaN, compacted: NaN, keys: NaN };
}

/**
 * Each execution of acme is what its events say, and in one place; no two blocks of an automation
 * overlap.
 */
export async function expectRight(db: Database, stored: readonly AcceptedEvent[]): Promise<void> {
  const rows = await everyRow(db);
  const found = byKey(rows.map(executionOf));
  expect(found).to.deep.equal(byKey(executionsOf(stored).values()));
  expect(rows).to.have.lengthOf(found.size);
  const { compacted, keys } = await countPlaces(db);
  expect(keys).to.equal(compacted);
  const { rows: overlapping } = await sql`
    select a.id from compacted_executions a join compacted_executions b using (organization, automation_id)
    where a.id <> b.id and a.newest >= b.oldest and a.oldest <= b.newest
  `.execute(db);
  expect(overlapping).to.deep.equal([]);
  expect(await wrongRunning(db)).to.deep.equal([]);
}

function byKey(executions: Iterable<Execution>): Map<string, Execution> {
  return new Map([...executions].filter((one) => one.organization === 'acme').map((one) => [keyText(one), one]));
}
