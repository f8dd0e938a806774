import type { Kysely } from 'kysely';
import { createActs } from './baseline/acts.ts';
import { createCompactedExecutions } from './baseline/compacted-executions.ts';
import { createConsole } from './baseline/console.ts';
import { createEvents } from './baseline/events.ts';
import { createExecutions } from './baseline/executions.ts';
import { createExpectations } from './baseline/expectations.ts';
import { createLedger } from './baseline/ledger.ts';
import { createNotifications } from './baseline/notifications.ts';
import { createOperations } from './baseline/operations.ts';
import { createOwners } from './baseline/owners.ts';

/**
 * The schema of the first release. Keys use the collation "C": it compares faster, and a new libc
 * cannot change the order of an index. `internal/store/partitions/indexes.ts` has the indexes for
 * readers.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createEvents(db);
  await createExecutions(db);
  await createCompactedExecutions(db);
  await createConsole(db);
  await createOwners(db);
  await createExpectations(db);
  await createActs(db);
  await createNotifications(db);
  await createLedger(db);
  await createOperations(db);
}
