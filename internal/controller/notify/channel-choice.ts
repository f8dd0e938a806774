import type { ChannelSpec } from '../../expectation/read-channel.ts';
import type { Selectable } from '../../store/sql.ts';
import type { ChannelsTable } from '../../store/tables/channels-table.ts';

export type Channel = Selectable<ChannelsTable>;

/** The automation that a notification is about. */
export interface Subject {
  automationId: string;
  /** Undefined if the automation is not declared. */
  owner: string | undefined;
  tags?: readonly string[] | undefined;
}

/**
 * True if the channel asks for all these kinds of notifications about this automation. A channel
 * that names no kinds asks for all about automations and for none about executions.
 */
export function asksFor(channel: Channel, kinds: readonly string[], subject: Subject): boolean {
  return kinds.every((kind) => asksForKind(channel, kind)) && passes(filterOf(channel), subject);
}

/**
 * True if the channel asks for these kinds about this automation with another owner or other tags.
 */
export function mayHaveAskedFor(channel: Channel, kinds: readonly string[], automationId: string): boolean {
  const { owners, tags } = filterOf(channel);
  return (owners ?? tags) !== undefined && asksFor(channel, kinds, { automationId, owner: owners?.[0], tags });
}

/** True if the channel was notified when this alert opened and asks for ends. */
export function wasTold(channel: Channel, told: readonly (readonly [string, string])[]): boolean {
  const isSame = told.some(([namespace, name]) => namespace === channel.namespace && name === channel.name);
  return isSame && asksForKind(channel, 'automation.resolved');
}

function asksForKind({ kinds }: Channel, kind: string): boolean {
  return kinds.length === 0 ? kind.startsWith('automation.') : kinds.includes(kind);
}

function filterOf({ filter }: Channel): ChannelSpec['filter'] {
  return Object(filter) as ChannelSpec['filter'];
}

function passes({ automations, owners, tags }: ChannelSpec['filter'], subject: Subject): boolean {
  const { automationId, owner } = subject;
  const isNamed = automations?.some((id) => id.toLowerCase() === automationId) ?? true;
  const isOwned = owners === undefined || (owner !== undefined && owners.includes(owner));
  return isNamed && isOwned && (tags?.some((tag) => subject.tags?.includes(tag)) ?? true);
}
