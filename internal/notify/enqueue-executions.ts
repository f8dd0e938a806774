import type { Held } from '../expectation/transition.ts';
import type { Tables } from '../store/database.ts';
import type { Transaction } from '../store/sql.ts';
import { executionEvent } from './cloud-event.ts';
import { declaredOf } from './declared-of.ts';
import { executionSteps, type StepsUntil } from './execution-steps.ts';
import type { ConsoleLinks } from './links.ts';
import { insertMessages } from './insert-messages.ts';
import { asksFor, type Webhook } from './webhook-choice.ts';

/** Most steps of an organization in one tick; the next tick continues. */
const mostSteps = 5_000;

/** Up to when the record is complete. */
interface Complete {
  watermark: Date;
  /** Organizations for which it is complete up to an earlier time. */
  held: Held | undefined;
}

/**
 * Puts the notifications about executions up to the watermark into the outbox. The first tick of
 * all begins with the present. No organization waits for another one: the state has the time of
 * each that is behind.
 */
export async function enqueueExecutions(
  trx: Transaction<Tables>,
  complete: Complete,
  links: ConsoleLinks,
): Promise<void> {
  const { watermark } = complete;
  const state = await trx
    .selectFrom('controller_state')
    .select(['executions_until', 'executions_behind'])
    .executeTakeFirst();
  const until = state?.executions_until;
  if (until && until >= watermark) return;
  const behind = until
    ? await enqueueSteps(trx, { until, behind: new Map(Object.entries(state.executions_behind)) }, complete, links)
    : new Map<string, string>();
  await trx
    .updateTable('controller_state')
    .set({ executions_until: watermark, executions_behind: JSON.stringify(Object.fromEntries(behind)) })
    .execute();
}

/** Up to when notifications are in the outbox; earlier for the organizations in `behind`. */
interface Enqueued {
  until: Date;
  behind: ReadonlyMap<string, string>;
}

/** Resolves with the organizations that are behind the watermark. */
async function enqueueSteps(
  trx: Transaction<Tables>,
  before: Enqueued,
  { watermark, held }: Complete,
  links: ConsoleLinks,
): Promise<Enqueued['behind']> {
  const webhooks = await trx.selectFrom('webhooks').selectAll().execute();
  const asking = webhooks.filter(({ kinds }) => kinds.some((kind) => kind.startsWith('execution.')));
  const behind = new Map<string, string>();
  for (const [organization, own] of Map.groupBy(asking, (webhook) => webhook.organization)) {
    const from = new Date(before.behind.get(organization) ?? before.until);
    const isHeld = held?.organizations.includes(organization) === true;
    const to = isHeld ? new Date(Math.max(from.getTime(), held.until)) : watermark;
    const { steps, until } = await executionSteps(trx, organization, { from, to, most: mostSteps });
    await enqueueOf(trx, organization, steps, own, links);
    if (until < watermark) behind.set(organization, until.toISOString());
  }
  return behind;
}

async function enqueueOf(
  trx: Transaction<Tables>,
  organization: string,
  steps: StepsUntil['steps'],
  webhooks: readonly Webhook[],
  links: ConsoleLinks,
): Promise<void> {
  if (steps.length === 0) return;
  const ids = [...new Set(steps.map(({ automationId }) => automationId))];
  const declared = await trx
    .selectFrom('automations')
    .selectAll()
    .where('organization', '=', organization)
    .where('automation_id', 'in', ids)
    .execute();
  const automations = new Map(declared.map((row) => [row.automation_id, declaredOf(row)]));
  const messages = steps.flatMap((step) => {
    const { automationId } = step;
    const automation = automations.get(automationId);
    const subject = { automationId, owner: automation?.owner };
    const choosing = webhooks.filter((webhook) => asksFor(webhook, [`execution.${step.state}`], subject));
    if (choosing.length === 0) return [];
    const event = executionEvent(step, organization, automation, links);
    return choosing.map((webhook) => ({ webhook, automationId, event }));
  });
  await insertMessages(trx, messages);
}
