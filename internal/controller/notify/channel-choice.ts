import type { Selectable } from '../../store/sql.ts';
import type { ChannelsTable } from '../../store/tables/channels-table.ts';

export type Channel = Selectable<ChannelsTable>;

/** The automation that a notification is about. */
export interface Subject {
  automationId: string;
  /** Undefined if the automation is not declared. */
  owner: string | undefined;
}

/**
 * True if the channel asks for all these kinds of notifications about this automation. A channel
 * that names no kinds asks for all about automations and for none about executions.
 */
export function asksFor(channel: Channel, kinds: readonly string[], subject: Subject): boolean {
  return kinds.every((kind) => asksForKind(channel, kind)) && passes(channel.filter, subject);
}

/**
 * True if the channel asks for these kinds about this automation while one of its owners has it.
 */
export function asksForOfOwner(channel: Channel, kinds: readonly string[], automationId: string): boolean {
  const { owners = [] } = Object(channel.filter) as { owners?: string[] };
  return owners.slice(0, 1).some((owner) => asksFor(channel, kinds, { automationId, owner }));
}

/** True if the channel was notified when this alert opened and asks for ends. */
export function wasTold(channel: Channel, told: readonly (readonly [string, string])[]): boolean {
  const isSame = told.some(([namespace, name]) => namespace === channel.namespace && name === channel.name);
  return isSame && asksForKind(channel, 'automation.resolved');
}

function asksForKind({ kinds }: Channel, kind: string): boolean {
  return kinds.length === 0 ? kind.startsWith('automation.') : kinds.includes(kind);
}

function passes(filter: unknown, { automationId, owner }: Subject): boolean {
  const { automations, owners } = Object(filter) as { automations?: string[]; owners?: string[] };
  const isNamed = automations?.some((id) => id.toLowerCase() === automationId) ?? true;
  return isNamed && (owners === undefined || (owner !== undefined && owners.includes(owner)));
}
