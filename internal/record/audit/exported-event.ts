import { optionalFields } from '../../event/fields.ts';
import { saltSize } from '../../ledger/event-digest.ts';
import { hashSize } from '../../ledger/hashing.ts';
import type { StoredEvent } from '../../ledger/stored-json.ts';
import { CannotCheck } from './finding.ts';

const texts = optionalFields.map(({ recorded }) => recorded);
const members = new Set(
  ['id', 'automation', 'execution_id', 'type_of_event', 'salt', 'texts_digest', 'occurred_at', 'created_at'].concat(
    texts,
  ),
);

/** The row of an event from its line in an NDJSON export. @throws {CannotCheck} */
export function exportedEvent(line: string, organization: string): StoredEvent {
  const event = objectOf(line);
  const text = (name: string): string => {
    const value = event[name];
    if (typeof value !== 'string') throw new CannotCheck(`A line of the export has no ${name}: ${line.slice(0, 60)}`);
    return value;
  };
  const other = Object.keys(event).find((name) => !members.has(name));
  if (other !== undefined) {
    throw new CannotCheck(`A line of the export has ${other}, which no event has: ${line.slice(0, 60)}`);
  }
  const bytes = (name: string, size: number): Buffer | null => {
    if ((event[name] ?? null) === null) return null;
    const hex = text(name);
    if (hex.length === 2 * size && /^[0-9a-f]+$/.test(hex)) return Buffer.from(hex, 'hex');
    throw new CannotCheck(`A line of the export has no whole ${name}: ${line.slice(0, 60)}`);
  };
  const automation = text('automation');
  const automationId = automation.toLowerCase();
  const columns = optionalFields.map(
    ({ recorded, column }) => [column, recorded in event ? text(recorded) : ''] as const,
  );
  return {
    organization,
    id: text('id'),
    created_at: text('created_at'),
    automation_id: automationId,
    automation_as_sent: automation === automationId ? null : automation,
    execution_id: text('execution_id'),
    kind: text('type_of_event'),
    occurred_at: event['occurred_at'] === null ? null : text('occurred_at'),
    salt: bytes('salt', saltSize),
    texts_digest: bytes('texts_digest', hashSize),
    ...Object.fromEntries(columns),
  };
}

function objectOf(line: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(line)) as Record<string, unknown>;
  } catch (error) {
    throw new CannotCheck(`A line of the export is no JSON: ${line.slice(0, 60)}`, { cause: error });
  }
}
