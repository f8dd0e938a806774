/** A row of the table `events`, by column. Postgres' time `infinity` is a number here. */
export type StoredEvent = Readonly<Record<string, string | Date | number | Uint8Array | null>> & {
  readonly id: string;
  readonly organization: string;
  readonly created_at?: string | Date | number | null;
  /** 16 random bytes; null for an event without texts, and once its texts are erased. */
  readonly salt?: Uint8Array | null;
  /** The digest of texts that were erased; otherwise null. */
  readonly texts_digest?: Uint8Array | null;
};

/** The columns with texts of an event, which an erasure can remove. */
export const textColumns: readonly string[] = ['description', 'error_description', 'error_id'];

/** Columns that are in neither JSON: they prove the texts. */
export const proofColumns: readonly string[] = ['salt', 'texts_digest'];

/** The canonical JSON of an event: its texts, and all other columns. */
export interface StoredJson {
  readonly metadata: string;
  /** `{}` without texts. */
  readonly texts: string;
}

/**
 * A stored event in canonical JSON (RFC 8785): one member for each column that is neither null nor
 * empty, by name; times in ISO 8601, UTC, milliseconds. A column that a later release adds is empty
 * in older rows, so it changes no leaf. `JSON.stringify` writes texts as RFC 8785 requires.
 */
export function storedJson(event: StoredEvent): StoredJson {
  const { metadata, texts } = shapeOf(event);
  return { metadata: jsonOf(metadata, event), texts: jsonOf(texts, event) };
}

type Members = Record<string, string | undefined>;

function jsonOf(members: Members, event: StoredEvent): string {
  for (const name in members) {
    const value = event[name];
    if (value === undefined || value === null || value === '') members[name] = undefined;
    else members[name] = value instanceof Date ? value.toISOString() : String(value);
  }
  return JSON.stringify(members);
}

/** The columns of an event, and objects that have them by name. */
interface Shape {
  columns: readonly string[];
  metadata: Members;
  texts: Members;
}

/**
 * The shape of the last event, which all rows of a query share: sorting for each takes half the
 * time.
 */
let shape: Shape = { columns: [], metadata: {}, texts: {} };

function shapeOf(event: StoredEvent): Shape {
  const columns = Object.keys(event);
  const isSame = columns.length === shape.columns.length && columns.every((name, at) => name === shape.columns[at]);
  if (isSame) return shape;
  const sorted = columns.toSorted().filter((name) => !proofColumns.includes(name));
  const membersOf = (isText: boolean): Members =>
    Object.fromEntries(sorted.filter((name) => textColumns.includes(name) === isText).map((name) => [name, undefined]));
  shape = { columns, metadata: membersOf(false), texts: membersOf(true) };
  return shape;
}
