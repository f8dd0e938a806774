import { optionalFields } from '../../event/fields.ts';
import type { StoredEvent } from '../../record/stored-event.ts';

/** How an export writes events. */
export interface ExportFormat {
  readonly type: string;
  /** The first line of a whole export; a resumed one has none. */
  readonly head: string;
  readonly line: (event: StoredEvent) => string;
}

const columns = [
  'created_at',
  'id',
  'automation',
  'execution_id',
  'type_of_event',
  ...optionalFields.map(({ recorded }) => recorded),
  'occurred_at',
] as const;

/** One JSON object a line. */
const ndjson: ExportFormat = {
  type: 'application/x-ndjson',
  head: '',
  line: (event) => `${JSON.stringify(event)}\n`,
};

/** RFC 4180. */
const csv: ExportFormat = {
  type: 'text/csv; charset=utf-8; header=present',
  head: `${columns.join(',')}\r\n`,
  line: (event) => `${columns.map((column) => cell(event[column] ?? '')).join(',')}\r\n`,
};

export const exportFormats = { ndjson, csv } as const;

/**
 * A cell of CSV. A spreadsheet would run a text that begins with one of these characters as a
 * formula, so that an apostrophe precedes it (OWASP, CSV Injection).
 */
function cell(text: string): string {
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
