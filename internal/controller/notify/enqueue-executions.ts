import type { Held } from '../../expectation/transition.ts';
import type { MacKey } from '../../ledger/mac.ts';
import type { Turns } from '../../store/apart.ts';
import type { Tables } from '../../store/database.ts';
import { urlNamespace, uuid5 } from '../../kit/uuid5.ts';
import { sql, type Transaction } from '../../store/sql.ts';
import { executionEvent } from './cloud-event.ts';
import { declaredOf } from './declared-of.ts';
import { executionSteps, type ExecutionStep, type StepsUntil } from './execution-steps.ts';
import type { ConsoleLinks } from './links.ts';
import { insertMessages, type Message } from './insert-messages.ts';
import { Mutes } from '../mutes.ts';
import { asksFor, mayHaveAskedFor, type Channel } from './channel-choice.ts';

/** Approximate maximum of steps and messages per organization and tick; the next tick continues. */
const mostSteps = 5_000;
const mostMessages = 5_000;

/** How far the record is complete. */
interface Complete {
  watermark: Date;
  /** Organizations for which it is complete only up to an earlier time. */
  held: Held | undefined;
  /** The keys with which consoles write mutes; none without a log. */
  actKeys?: readonly MacKey[] | undefined;
}

/**
 * Puts the notifications about executions up to the watermark into the outbox. The very first tick
 * starts from the present. No organization waits for another: the state keeps the time of each one
 * that is behind.
 */
export async function enqueueExecutions(
  trx: Transaction<Tables>,
  complete: Complete,
  links: ConsoleLinks,
  turns: Turns,
): Promise<void> {
  const { watermark } = complete;
  const state = await trx
    .selectFrom('controller_state')
    .select(['executions_until', 'executions_behind'])
    .executeTakeFirst();
  const until = state?.executions_until;
  if (until && until >= watermark) return;
  const behind = until
    ? await enqueueSteps(
        trx,
        { until, behind: new Map(Object.entries(state.executions_behind)) },
        complete,
        links,
        turns,
      )
    : new Map<string, string>();
  await trx
    .updateTable('controller_state')
    .set({ executions_until: watermark, executions_behind: JSON.stringify(Object.fromEntries(behind)) })
    .execute();
}

/**
 * The time up to which notifications are in the outbox; earlier for the organizations in `behind`.
 */
interface Enqueued {
  until: Date;
  behind: ReadonlyMap<string, string>;
}

/** Resolves with the organizations that are behind the watermark. */
async function enqueueSteps(
  trx: Transaction<Tables>,
  before: Enqueued,
  { watermark, held, actKeys = [] }: Complete,
  links: ConsoleLinks,
  turns: Turns,
): Promise<Enqueued['behind']> {
  const channels = await trx.selectFrom('channels').selectAll().execute();
  const asking = channels.filter(({ kinds }) => kinds.some((kind) => kind.startsWith('execution.')));
  if (asking.length === 0) return new Map();
  const mutes = await Mutes.read(trx, before.until.getTime(), actKeys);
  const behind = new Map<string, string>();
  for (const [organization, own] of Map.groupBy(asking, (channel) => channel.organization)) {
    const from = new Date(before.behind.get(organization) ?? before.until);
    const isHeld = held?.organizations.includes(organization) === true;
    const to = isHeld ? new Date(Math.max(from.getTime(), held.until)) : watermark;
    const [until = from] = await turns.run(trx, [{ organization }], async () => {
      const steps = await executionSteps(trx, organization, { from, to, most: mostSteps });
      return enqueueOf(trx, organization, steps, { channels: own, mutes, links });
    });
    if (until < watermark) behind.set(organization, until.toISOString());
  }
  return behind;
}

/** Resolves with the time up to which the messages of all steps are in the outbox. */
async function enqueueOf(
  trx: Transaction<Tables>,
  organization: string,
  { steps, until }: StepsUntil,
  { channels, mutes, links }: { channels: readonly Channel[]; mutes: Mutes; links: ConsoleLinks },
): Promise<Date> {
  if (steps.length === 0) return until;
  const ids = [...new Set(steps.map(({ automationId }) => automationId))];
  const declared = await trx
    .selectFrom('automations')
    .selectAll()
    .where('organization', '=', organization)
    .where('automation_id', 'in', ids)
    .execute();
  const automations = new Map(declared.map((row) => [row.automation_id, declaredOf(row)]));
  const messages: Message[] = [];
  /** The start of which a message's channel must have been told. */
  const starts = new Map<Message, string>();
  let last: Date | undefined;
  for (const step of steps) {
    // Keeps the steps of a millisecond together, because they are read together.
    if (last !== undefined && messages.length >= mostMessages && step.at > last) break;
    last = step.at;
    const { automationId, state } = step;
    const automation = automations.get(automationId);
    const subject = { automationId, owner: automation?.owner, tags: automation?.tags };
    if (mutes.until({ organization, automationId }, step.at.getTime()) !== undefined) continue;
    const kind = `execution.${state}`;
    const event = executionEvent(step, organization, automation, links);
    for (const channel of channels) {
      const message = { channel, automationId, event };
      if (asksFor(channel, [kind], subject)) {
        messages.push(state === 'started' ? { ...message, id: startId(channel, step) } : message);
      } else if (state !== 'started' && mayHaveAskedFor(channel, [kind, 'execution.started'], automationId)) {
        messages.push(message);
        starts.set(message, startId(channel, step));
      }
    }
  }
  const told = await listTold(trx, [...starts.values()]);
  const isWanted = (message: Message): boolean => {
    const start = starts.get(message);
    return start === undefined || told.has(start);
  };
  await insertMessages(trx, messages.filter(isWanted));
  const isWhole = last === steps.at(-1)?.at;
  return isWhole || last === undefined ? until : last;
}

/** The id of the message that tells a channel of the start of an execution. */
function startId({ organization, namespace, name }: Channel, { automationId, executionId }: ExecutionStep): string {
  const start = [organization, namespace, name, automationId, executionId];
  return uuid5(urlNamespace, `urn:runledger:started:${JSON.stringify(start)}`);
}

/**
 * Which of these messages were sent: whoever was told of a start hears the end, even if the
 * automation has another owner by now, or is no longer declared.
 */
async function listTold(trx: Transaction<Tables>, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const rows = await trx
    .selectFrom('deliveries')
    .select('id')
    .where('id', '=', sql<string>`any(${ids})`)
    .execute();
  return new Set(rows.map(({ id }) => id));
}
