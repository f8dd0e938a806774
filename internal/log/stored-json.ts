/** A row of the table `events`, by column. The time `infinity` of Postgres is a number. */
export type StoredEvent = Readonly<Record<string, string | Date | number | null>> & {
  readonly id: string;
  readonly organization: string;
};

/**
 * An event as it is stored, in canonical JSON (RFC 8785): one member for each column that is
 * neither null nor empty, by name; times in ISO 8601, UTC, milliseconds. A column that a later
 * release adds is empty in older rows, so it changes no leaf. For texts, `JSON.stringify` writes
 * what RFC 8785 asks for.
 */
export function storedJson(event: StoredEvent): string {
  const { sorted } = shapeOf(event);
  for (const name in sorted) {
    const value = event[name];
    if (value === undefined || value === null || value === '') sorted[name] = undefined;
    else sorted[name] = value instanceof Date ? value.toISOString() : String(value);
  }
  return JSON.stringify(sorted);
}

/** The columns of an event, and an object that has them by name. */
interface Shape {
  columns: readonly string[];
  sorted: Record<string, string | undefined>;
}

/** That of the last event, since all rows of a query have the same. To sort takes half the time. */
let shape: Shape = { columns: [], sorted: {} };

function shapeOf(event: StoredEvent): Shape {
  const columns = Object.keys(event);
  const isSame = columns.length === shape.columns.length && columns.every((name, at) => name === shape.columns[at]);
  if (!isSame) shape = { columns, sorted: Object.fromEntries(columns.toSorted().map((name) => [name, undefined])) };
  return shape;
}
