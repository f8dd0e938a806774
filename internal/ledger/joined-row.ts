import type { ProvenEvent } from './event-digest.ts';
import { proofColumns, textColumns } from './stored-json.ts';

/** A column of the table `events`, and its type as Postgres names it. */
export interface Column {
  readonly name: string;
  readonly type: string;
}

export const timeType = 'timestamp with time zone';

/** An event of a joined row, with the JSON that `storedJson` gives. */
export interface JoinedEvent extends ProvenEvent {
  readonly id: string;
  /** When it was accepted, in ms since the Unix epoch. */
  readonly time: number;
}

/** Separates the texts of a row: a control character that callers rarely send. */
export const separator = '\u001f';

/** The columns that a joined row begins with, so that no caller's text can shift them. */
export const firstColumns = ['created_at', 'id'] as const;

/**
 * Reads rows whose columns are joined into one text in the order of `columns`: '' for null, times
 * in UTC as Postgres writes them, bytes in hexadecimal digits. The reader returns undefined for an
 * ambiguous row: a text has the separator, or a year does not have four digits.
 */
export function rowReader(columns: readonly Column[]): (row: string) => JoinedEvent | undefined {
  const sorted = columns
    .map(({ name, type }, at) => ({ name, type, at, begin: `,${JSON.stringify(name)}:` }))
    .filter(({ name }) => !proofColumns.includes(name))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const isText = ({ name }: Column): boolean => textColumns.includes(name);
  const [ofTexts, ofMetadata] = [sorted.filter(isText), sorted.filter((column) => !isText(column))];
  const saltAt = columns.findIndex(({ name }) => name === 'salt');
  const digestAt = columns.findIndex(({ name }) => name === 'texts_digest');
  const timeOf = timeReader();
  return (row) => {
    const texts = row.split(separator);
    const time = timeOf(texts[0] ?? '');
    if (texts.length !== columns.length || time === undefined) return undefined;
    let metadata = '';
    for (const { at, type, begin } of ofMetadata) {
      const text = texts[at] ?? '';
      if (text === '') continue;
      if (type === timeType) {
        const its = timeOf(text);
        if (its === undefined) return undefined;
        metadata += `${begin}"${its.iso}"`;
      } else {
        metadata += begin + (type === 'uuid' ? `"${text}"` : JSON.stringify(text));
      }
    }
    let json = '';
    for (const { at, begin } of ofTexts) {
      const text = texts[at] ?? '';
      if (text !== '') json += begin + JSON.stringify(text);
    }
    return {
      id: texts[1] ?? '',
      time: time.ms,
      metadata: `{${metadata.slice(1)}}`,
      texts: `{${json.slice(1)}}`,
      salt: bytesOf(texts[saltAt]),
      textsDigest: bytesOf(texts[digestAt]),
    };
  };
}

/** Bytes in hexadecimal digits; null for ''. */
function bytesOf(text = ''): Buffer | null {
  return text === '' ? null : Buffer.from(text, 'hex');
}

interface Time {
  readonly iso: string;
  readonly ms: number;
}

const second = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/;

/** Reads times with a year of four digits and whole milliseconds; undefined for others. */
function timeReader(): (text: string) => Time | undefined {
  // Consecutive rows often share the second.
  let last = { text: '', iso: '', ms: 0 };
  return (text) => {
    const begin = text.slice(0, 19);
    if (begin !== last.text) {
      if (!second.test(begin)) return undefined;
      const iso = begin.replace(' ', 'T');
      last = { text: begin, iso, ms: Date.parse(`${iso}Z`) };
    }
    if (text.length > 23 || (text.length > 19 && text[19] !== '.')) return undefined;
    const fraction = text.slice(20).padEnd(3, '0');
    return { iso: `${last.iso}.${fraction}Z`, ms: last.ms + Number(fraction) };
  };
}
