/** A row of the table `events`, by column. */
export type StoredEvent = Readonly<Record<string, string | Date | null>> & {
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
  let json = '';
  for (const name of Object.keys(event).sort()) {
    const value = event[name];
    if (value === undefined || value === null || value === '') continue;
    const text = typeof value === 'string' ? JSON.stringify(value) : `"${value.toISOString()}"`;
    json += `${json === '' ? '{' : ','}"${name}":${text}`;
  }
  return `${json}}`;
}
