import { erasedScopes, joinIds, splitIds, type Erasure } from './erasure.ts';

/** The record of an erasure as a line of JSON, with the ids of its events. */
export function writeErasure({ event_ids, ...record }: Erasure): string {
  return JSON.stringify({ ...record, events: splitIds(event_ids) });
}

/** Reads a line of {@link writeErasure}. @throws for any other text. */
export function readErasure(line: string): Erasure {
  const read = Object(JSON.parse(line)) as Record<string, unknown>;
  const text = (name: string): string => {
    const value = read[name];
    if (typeof value === 'string') return value;
    throw new Error(`the record of an erasure has no ${name}`);
  };
  const scope = erasedScopes.find((known) => known === text('scope'));
  const events = read['events'];
  if (scope === undefined || !Array.isArray(events)) throw new Error('this is no record of an erasure');
  return {
    id: text('id'),
    organization: text('organization'),
    erased_at: new Date(text('erased_at')),
    erased_by: text('erased_by'),
    reason: text('reason'),
    scope,
    automation_id: read['automation_id'] === null ? null : text('automation_id'),
    event_ids: joinIds(events.map(String)),
  };
}
