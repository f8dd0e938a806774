import type { ProvenEvent } from '../stored-event.ts';
import { columns } from './columns.ts';
import type { ExportFormat } from './format.ts';

/** One JSON object per line. */
export const ndjson: ExportFormat = {
  type: 'application/x-ndjson',
  begin: () => linesWith((event) => `${JSON.stringify(event)}\n`),
};

/** RFC 4180. */
export const csv: ExportFormat = {
  type: 'text/csv; charset=utf-8; header=present',
  begin: (isRest, bom = false) => linesWith(row, isRest ? '' : `${bom ? '\ufeff' : ''}${columns.join(',')}\r\n`),
};

function linesWith(line: (event: ProvenEvent) => string, head = '') {
  let pending = head;
  const taken = (lines: string): string => {
    const text = pending + lines;
    pending = '';
    return text;
  };
  return { add: (events: readonly ProvenEvent[]) => taken(events.map(line).join('')), end: () => taken('') };
}

function row(event: ProvenEvent): string {
  return `${columns.map((column) => cell(event[column] ?? '')).join(',')}\r\n`;
}

/**
 * A cell of CSV. A spreadsheet would run a text that begins with one of these characters as a
 * formula, so an apostrophe precedes it (OWASP, CSV Injection). A text that already looks guarded
 * gets one more, so that readers can remove it unambiguously.
 */
function cell(text: string): string {
  const harmless = /^'*[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

/** True for a cell text with an apostrophe that its event does not have. */
export function isGuarded(text: string): boolean {
  return /^'+[=+\-@\t\r]/.test(text);
}
