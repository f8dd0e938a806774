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

/**
 * Puts the notifications about executions up to the watermark into the outbox. The first tick of
 * all begins with the present.
 */
export async function enqueueExecutions(trx: Transaction<Tables>, watermark: Date, links: ConsoleLinks): Promise<void> {
  const state = await trx.selectFrom('controller_state').select('executions_until').executeTakeFirst();
  const from = state?.executions_until;
  if (from !== undefined && from !== null && from >= watermark) return;
  const until = from === undefined || from === null ? watermark : await enqueueSteps(trx, from, watermark, links);
  await trx.updateTable('controller_state').set({ executions_until: until }).execute();
}

/** Resolves with the time up to which all steps of all organizations are in the outbox. */
async function enqueueSteps(trx: Transaction<Tables>, from: Date, to: Date, links: ConsoleLinks): Promise<Date> {
  const webhooks = await trx.selectFrom('webhooks').selectAll().execute();
  const asking = webhooks.filter(({ kinds }) => kinds.some((kind) => kind.startsWith('execution.')));
  const found = new Map<string, StepsUntil>();
  for (const organization of new Set(asking.map((webhook) => webhook.organization))) {
    found.set(organization, await executionSteps(trx, organization, { from, to, most: mostSteps }));
  }
  const until = new Date(Math.min(to.getTime(), ...[...found.values()].map((steps) => steps.until.getTime())));
  for (const [organization, { steps }] of found) {
    const own = asking.filter((webhook) => webhook.organization === organization);
    await enqueueOf(
      trx,
      organization,
      steps.filter(({ at }) => at <= until),
      own,
      links,
    );
  }
  return until;
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
