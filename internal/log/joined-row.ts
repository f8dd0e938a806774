/** A column of the table `events`, and its type as Postgres names it. */
export interface Column {
  readonly name: string;
  readonly type: string;
}

export const timeType = 'timestamp with time zone';

/** An event of a joined row. */
export interface JoinedEvent {
  readonly id: string;
  /** When it was accepted, in ms since the Unix epoch. */
  readonly time: number;
  /** The same as `storedJson` makes of the row. */
  readonly json: string;
}

/** Joins the texts of a row: a control character that callers rarely send. */
export const separator = '\u001f';

/** The columns that a joined row begins with. So a text of a caller cannot move them. */
export const firstColumns = ['created_at', 'id'] as const;

/**
 * Reads rows whose columns are joined to one text in the order of `columns`: '' for null, times in
 * UTC as Postgres writes them. The reader returns undefined for a row that it cannot read for sure:
 * a text has the separator, or a time is no date with four digits for the year.
 */
export function rowReader(columns: readonly Column[]): (row: string) => JoinedEvent | undefined {
  const sorted = columns
    .map(({ name, type }, at) => ({ name, type, at, begin: `,${JSON.stringify(name)}:` }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const timeOf = timeReader();
  return (row) => {
    const texts = row.split(separator);
    const time = timeOf(texts[0] ?? '');
    if (texts.length !== columns.length || time === undefined) return undefined;
    let json = '';
    for (const { at, type, begin } of sorted) {
      const text = texts[at] ?? '';
      if (text === '') continue;
      if (type === timeType) {
        const its = timeOf(text);
        if (its === undefined) return undefined;
        json += `${begin}"${its.iso}"`;
      } else {
        json += begin + (type === 'uuid' ? `"${text}"` : JSON.stringify(text));
      }
    }
    return { id: texts[1] ?? '', time: time.ms, json: `{${json.slice(1)}}` };
  };
}

interface Time {
  readonly iso: string;
  readonly ms: number;
}

const second = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/;

/** Reads times with a year of four digits and whole milliseconds; undefined for others. */
function timeReader(): (text: string) => Time | undefined {
  // Rows that follow each other often share the second.
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
