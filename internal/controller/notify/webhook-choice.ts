import type { Selectable } from '../../store/sql.ts';
import type { WebhooksTable } from '../../store/tables/webhooks-table.ts';

export type Webhook = Selectable<WebhooksTable>;

/** The automation that a notification is about. */
export interface Subject {
  automationId: string;
  /** Undefined if the automation is not declared. */
  owner: string | undefined;
}

/**
 * True if the webhook asks for all these kinds of notifications about this automation. A webhook
 * that names no kinds asks for all about automations and for none about executions.
 */
export function asksFor(webhook: Webhook, kinds: readonly string[], subject: Subject): boolean {
  return kinds.every((kind) => asksForKind(webhook, kind)) && passes(webhook.filter, subject);
}

/** True if the webhook asks for these kinds about this automation while one of its owners has it. */
export function asksForOfOwner(webhook: Webhook, kinds: readonly string[], automationId: string): boolean {
  const { owners = [] } = Object(webhook.filter) as { owners?: string[] };
  return owners.slice(0, 1).some((owner) => asksFor(webhook, kinds, { automationId, owner }));
}

/** True if the webhook was notified when this alert opened and asks for ends. */
export function wasTold(webhook: Webhook, told: readonly (readonly [string, string])[]): boolean {
  const isSame = told.some(([namespace, name]) => namespace === webhook.namespace && name === webhook.name);
  return isSame && asksForKind(webhook, 'automation.resolved');
}

function asksForKind({ kinds }: Webhook, kind: string): boolean {
  return kinds.length === 0 ? kind.startsWith('automation.') : kinds.includes(kind);
}

function passes(filter: unknown, { automationId, owner }: Subject): boolean {
  const { automations, owners } = Object(filter) as { automations?: string[]; owners?: string[] };
  const isNamed = automations?.some((id) => id.toLowerCase() === automationId) ?? true;
  return isNamed && (owners === undefined || (owner !== undefined && owners.includes(owner)));
}
