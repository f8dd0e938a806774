import { sql } from '../store/sql.ts';
import type { EventRow } from '../store/tables/events-table.ts';
import type { Condition } from './conditions.ts';
import { eventColumnNames, hexOf } from './stored-event.ts';

/** How JSON has the columns of `events` that are no texts; bytes in hexadecimal digits. */
const types: Readonly<Record<string, string>> = {
  created_at: 'timestamptz',
  id: 'uuid',
  automation_id: 'uuid',
  occurred_at: 'timestamptz',
};

const conversions: Readonly<Record<string, string>> = {
  // As in the table, or Postgres could not compare them.
  execution_id: 'execution_id collate "C"',
  salt: `decode(salt, 'hex')`,
  texts_digest: `decode(texts_digest, 'hex')`,
};

const typed = sql.raw(eventColumnNames.map((name) => `${name} ${types[name] ?? 'text'}`).join(', '));
const converted = sql.raw(eventColumnNames.map((name) => conversions[name] ?? name).join(', '));

/** The query of events in memory, as rows `archived` with the organization and all columns. */
export function archivedEvents(events: readonly EventRow[]): Condition {
  const rows = JSON.stringify(events.map(jsonOf));
  return sql`
    select organization, ${converted} from json_to_recordset(${rows}::json) as archived (organization text, ${typed})
  `;
}

function jsonOf({ salt, texts_digest, ...event }: EventRow): object {
  return { ...event, salt: hexOf(salt) ?? null, texts_digest: hexOf(texts_digest) ?? null };
}
