import { columns } from './columns.ts';
import { isGuarded } from './text-formats.ts';
import { textLines } from './text-lines.ts';

/** The first bytes of a CSV export of any release. */
export const csvHead = columns.slice(0, 5).join(',');

/** A cell, and the comma or the end after it. */
const cells = /("(?:[^"]|"")*"|[^,"]*)(,|$)/gy;

/** The events of a CSV export, as the lines of the same export in NDJSON. @throws for other CSV. */
export async function* csvLines(path: string): AsyncGenerator<string> {
  let names: string[] | undefined;
  for await (const record of recordsOf(textLines(path))) {
    if (names === undefined) names = columnsOf(record);
    else yield JSON.stringify(eventOf(record, names));
  }
}

/** Joins lines while a quotation is open. */
async function* recordsOf(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let record: string | undefined;
  let isOpen = false;
  for await (const line of lines) {
    record = record === undefined ? line : `${record}\n${line}`;
    if (line.split('"').length % 2 === 0) isOpen = !isOpen;
    if (isOpen) continue;
    yield record.replace(/\r$/, '');
    record = undefined;
  }
  if (record !== undefined) throw new Error('the last line is not whole');
}

/** The columns that the head names. An export of an earlier release lacks later fields. */
function columnsOf(head: string): string[] {
  const names = head.split(',');
  const unknown = names.find((name) => !(columns as readonly string[]).includes(name));
  if (unknown !== undefined) throw new Error(`no event has its column ${unknown}`);
  return names;
}

function eventOf(record: string, names: readonly string[]): Record<string, string | null> {
  const values = Array.from(record.matchAll(cells), ([, cell = '']) => textOf(cell));
  // After the last cell, the pattern matches an empty one at the end.
  if (values.length !== names.length + (record.endsWith(',') ? 0 : 1)) {
    throw new Error(`a line has not ${names.length} cells: ${record.slice(0, 60)}`);
  }
  return Object.fromEntries(names.map((name, at) => [name, valueOf(name, values[at] ?? '')]));
}

/** Cells of these columns are empty for null. */
const optional: ReadonlySet<string> = new Set(['salt', 'texts_digest', 'occurred_at']);

function valueOf(column: string, text: string): string | null {
  return text === '' && optional.has(column) ? null : text;
}

function textOf(cell: string): string {
  const text = cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell;
  return isGuarded(text) ? text.slice(1) : text;
}
