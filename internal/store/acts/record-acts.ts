import { closingEvents } from '../../event/closing.ts';
import { acceptEvent, type AcceptedEvent } from '../../event/event.ts';
import { createIdentitySource } from '../../event/identity.ts';
import type { EventRequest } from '../../event/schema.ts';
import { leafOfAct, writeAct, type Act as LedgerAct } from '../../ledger/act.ts';
import { actKeyOf, type MacKey } from '../../ledger/mac.ts';
import type { Database, Tables } from '../database.ts';
import { appendAct, newAct } from '../ledger/append-act.ts';
import { recordEvents } from '../record-events.ts';
import { sql, type Selectable, type Transaction } from '../sql.ts';
import type { ActKind, ActsTable } from '../tables/acts-table.ts';
import { digestOfRow, isMade } from './act-mac.ts';

type Act = Selectable<ActsTable>;
type Key = Pick<Act, 'organization' | 'id'>;
type Logged = Pick<LedgerAct, 'kind' | 'details'>;

/** Acts per round. */
const most = 100;

const identify = createIdentitySource();

/** Of an organization that is closed here, a worker of its next database records the acts. */
const isHere = sql<boolean>`not exists (
  select from moved_organizations o where o.organization = acts.organization and o.closed
)`;

/**
 * Records what owners did: with a key in the log, and a closing as events of its run. Each act is
 * recorded once, with all that it makes or not at all. Any number of workers may run it. With a
 * log, an act that no console has written makes nothing: its leaf without a MAC stays as evidence,
 * which the sealer refuses.
 * @param macKeys those of leaves, the first of which makes new ones; empty without a log.
 * @param onError receives what went wrong with one act, which the next round tries again.
 * @param onRefused receives each act that no console has written.
 */
export async function recordActs(
  db: Database,
  macKeys: readonly MacKey[],
  onError: (error: unknown, act: Key) => void,
  onRefused: (act: Key) => void = () => undefined,
): Promise<void> {
  const { rows } = await sql<Key>`
    select organization, id from acts where recorded_at is null and ${isHere} order by made_at limit ${sql.lit(most)}
  `.execute(db);
  for (const key of rows) {
    const isRefused = await db
      .transaction()
      .execute((trx) => recordAct(trx, key, macKeys))
      .catch((error: unknown) => onError(error, key));
    if (isRefused === true) onRefused(key);
  }
}

/** The update locks the row: another worker finds it recorded. Resolves with true if refused. */
async function recordAct(trx: Transaction<Tables>, { organization, id }: Key, macKeys: readonly MacKey[]) {
  const { rows } = await sql<Act>`
    update acts set recorded_at = now()
    where organization = ${organization} and id = ${id}::uuid and recorded_at is null and ${isHere}
    returning *
  `.execute(trx);
  const [act] = rows;
  if (act === undefined) return false;
  if (!isMade(macKeys.map(actKeyOf), act)) {
    await refuse(trx, act);
    return true;
  }
  if (await isInLog(trx, act)) return false;
  const [macKey] = macKeys;
  const events = act.kind === 'close' ? await closeRun(trx, act, macKey) : [];
  await appendAct(trx, macKey, { organization, by: act.made_by, ...inLog(act, events) });
  return false;
}

/** True if the log has this act: somebody made its row look as if no worker had recorded it. */
async function isInLog(trx: Transaction<Tables>, { organization, id }: Act): Promise<boolean> {
  const { rows } = await sql`
    select from log_acts where organization = ${organization} and act::jsonb ->> 'row' = ${id}
  `.execute(trx);
  return rows.length > 0;
}

/** Keeps the leaf of a forged act, which the sealer counts, and which `verify` finds. */
async function refuse(trx: Transaction<Tables>, act: Act): Promise<void> {
  const { id, ...forged } = newAct({ organization: act.organization, by: act.made_by, ...inLog(act, []) });
  const leaves = leafOfAct(id, writeAct({ id, ...forged }));
  await trx.insertInto('log_segments').values({ organization: act.organization, leaves, mac: null }).execute();
}

/** An act as the log keeps it, forever: with the digest of its row, and without the note. */
function inLog(act: Act, events: readonly AcceptedEvent[]): Logged {
  const { kind, id, about, automation_id, until_at } = act;
  const row = { row: id, sha256: digestOfRow(act) };
  const automation = automation_id === null ? {} : { automation: automation_id };
  const until = until_at === null ? {} : { until: until_at.toISOString() };
  const event = events.at(-1);
  const logged: Readonly<Record<ActKind, Logged>> = {
    mute: { kind: 'muted', details: { ...automation, ...until, ...row, mute: id } },
    unmute: { kind: 'unmuted', details: { ...automation, ...row, mute: about ?? id } },
    acknowledge: { kind: 'alert-acknowledged', details: { ...automation, ...row, alert: about ?? id } },
    close: { kind: 'run-closed', details: { ...automation, ...row, ...(event && { event: event.id }) } },
    note: { kind: 'note-written', details: { ...automation, ...row, note: id } },
  };
  return logged[kind];
}

/** Ends a run, unless it has ended meanwhile. Resolves with its new events. */
async function closeRun(
  trx: Transaction<Tables>,
  { organization, automation_id, execution_id, details, note, made_by }: Act,
  macKey: MacKey | undefined,
): Promise<AcceptedEvent[]> {
  if (automation_id === null || execution_id === null || details.as === undefined) return [];
  const { rows } = await sql`
    select from executions where organization = ${organization} and automation_id = ${automation_id}::uuid
      and execution_id = ${execution_id} and state = 'running' for update
  `.execute(trx);
  if (rows.length === 0) return [];
  const events = closingEvents({ automation_id, execution_id }, details.as, note, made_by).map((event) =>
    acceptEvent(event as EventRequest, organization, identify()),
  );
  await recordEvents(trx, events, { macKey });
  return events;
}
