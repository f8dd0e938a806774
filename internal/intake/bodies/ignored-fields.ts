import { optionalFields } from '../../event/fields.ts';
import { requestFields, type EventRequest } from '../../event/schema.ts';

/** Approximate limit of the header, and limit of one name in it, in characters. */
const longestHeader = 1_000;
const longestName = 50;

/**
 * The fields of an event that Runledger does not record; undefined if there are none, the usual and
 * cheapest case. `known`: the recorded ones.
 */
export function ignoredFields(
  event: EventRequest,
  known: ReadonlySet<string> = requestFields,
): readonly string[] | undefined {
  let ignored: string[] | undefined;
  for (const name in event) if (!known.has(name) && !isRecorded(event, name)) (ignored ??= []).push(name);
  return ignored;
}

/** True for a text under its name in answers, if that text is the one recorded. */
function isRecorded(event: EventRequest, name: string): boolean {
  const field = optionalFields.find(({ recorded }) => recorded === name);
  return field !== undefined && (event[field.request] ?? event[field.recorded]) === event[field.recorded];
}

/** Tells the caller in a header which fields of a request are ignored. */
export class IgnoredFields {
  readonly #pointers: string[] = [];
  #length = 0;
  #isCut = false;

  /** Adds fields of the object at `pointer`. */
  add(pointer: string, names: readonly string[] = []): void {
    for (const name of names) {
      if (this.#isCut) return;
      const one = `${pointer}/${encoded(name)}`;
      this.#isCut = this.#length + one.length > longestHeader;
      this.#pointers.push(this.#isCut ? '...' : one);
      this.#length += one.length + 2;
    }
  }

  /** The value of `Runledger-Ignored-Fields`: JSON pointers; undefined if no field is ignored. */
  get header(): string | undefined {
    return this.#pointers.length === 0 ? undefined : this.#pointers.join(', ');
  }
}

/** A part of a JSON pointer (RFC 6901) in visible ASCII without commas. */
function encoded(name: string): string {
  const cut = name.length > longestName ? `${name.slice(0, longestName)}...` : name;
  return encodeURIComponent(cut.toWellFormed().replaceAll('~', '~0').replaceAll('/', '~1'));
}
