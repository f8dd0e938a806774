import { sql } from 'kysely';
import type { Database } from '../../../internal/store/database.ts';
import { dayOf, daysFrom } from '../../../internal/store/partitions/days.ts';
import { createPartition } from '../../../internal/store/partitions/partitions.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { storeDemoExpectations } from '../notify/demo-expectations.ts';
import { migratedUrl, openDatabase, type TestDatabase } from '../store.ts';
import { emptyDatabase } from '../servers.ts';
import { storeActs } from './acts.ts';
import { automations, historyOf, named } from './history.ts';
import { longRunsOf } from './long-runs.ts';

const dayMs = 86_400_000;

/** Three weeks, and events of one statement. */
const [days, batch] = [21, 2_000];

let template: Promise<string> | undefined;

/** A database with the record of the fleet: a copy of the first one of this process. */
export async function fleetDatabase(): Promise<TestDatabase> {
  template ??= fleetTemplate();
  const url = await emptyDatabase(await template);
  const db = openDatabase(url);
  await sql`select 1`.execute(db);
  return { db, url, [Symbol.asyncDispose]: () => db.destroy() };
}

async function fleetTemplate(): Promise<string> {
  const url = await migratedUrl();
  await using db = openDatabase(url, 60_000);
  await storeFleet(db);
  return new URL(url).pathname.slice(1);
}

/**
 * Stores what the fleet has done in the three weeks before now, what is declared about it, and the
 * verdicts and alerts that real ticks make of it, and what owners did.
 */
export async function storeFleet(db: Database): Promise<void> {
  const now = Date.now();
  const from = now - days * dayMs;
  await db.transaction().execute(async (trx) => {
    for (const day of daysFrom(dayOf(from), days + 1)) await createPartition(trx, day);
  });
  const events = automations
    .flatMap((automation, index) => [...historyOf(automation, from, now, index + 1), ...longRunsOf(automation, now)])
    .sort((a, b) => a.createdAt - b.createdAt);
  for (let first = 0; first < events.length; first += batch) await recordEvents(db, events.slice(first, first + batch));
  // Statistics as a running server has them.
  await sql`vacuum (analyze) events, executions, running_executions`.execute(db);
  await declareNames(db, from);
  await storeDemoExpectations(db, {
    sync: named('CRM sync').id,
    scraper: named('Legacy scraper').id,
    mailer: named('Report mailer').id,
  });
  await storeActs(db, named('CRM sync').id);
  // The ticks are over: a controller that has ticked once would soon be late.
  const alertmanagers = [0, 1].map((replica) => `http://alertmanager-${replica}.alertmanager:9093`);
  await db.updateTable('controller_state').set({ ticked_at: null, alertmanagers }).execute();
}

/** The names of the fleet, without expectations: those of the demo follow. */
async function declareNames(db: Database, since: number): Promise<void> {
  const rows = automations.flatMap(({ organization, id, name, from }, index) => {
    if (name === undefined) return [];
    const slash = name.lastIndexOf('/');
    const isOwn = from === 'calls' || from === 'exec' || slash === -1;
    return [
      {
        organization,
        automation_id: id,
        namespace: isOwn ? `${organization}-automations` : name.slice(0, slash),
        name: isOwn ? `automation-${index}` : name.slice(slash + 1),
        uid: id,
        generation: '1',
        display_name: isOwn ? name : '',
        owner: ['billing', 'logistics', 'data'][index % 3] ?? '',
        tags: index % 4 === 0 ? ['nightly', 'finance'] : [],
        links: '[]',
        expect: null,
        alert_labels: '{}',
        suspend: false,
        declared_at: new Date(since),
      },
    ];
  });
  await db.insertInto('automations').values(rows).execute();
}
