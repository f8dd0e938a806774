import { randomUUID } from 'node:crypto';
import type { Context } from 'koa';
import { inviteBody } from '../intake/bodies/body-pieces.ts';
import { withoutMark } from '../intake/bodies/byte-order-mark.ts';
import { parseJson, requireType } from '../intake/bodies/json-body.ts';
import { collectBody } from '../intake/http/plain-koa.ts';
import { RequestError, type FieldError } from '../kit/errors/request-error.ts';
import type { TokenDesk } from '../login/token-desk.ts';
import type { ConsoleAutomations } from '../store/console-automations.ts';
import type { NewAct } from '../record/acts.ts';
import { Fault } from './fault.ts';
import type { NoteAct, NoteFirst } from './note-access.ts';
import { uuid } from './parameters.ts';
import type { ReadOptions } from './read-options.ts';

/** What the endpoints for a token of scope `manage` use: the same as the console's pages. */
export interface ManageOptions extends Pick<ReadOptions, 'record'> {
  automations: Pick<ConsoleAutomations, 'apply' | 'remove'>;
  tokens: TokenDesk;
  /** Writes acts about alerts and executions; false if there is nothing that one could be about. */
  acts: { add(act: NewAct): Promise<boolean> };
  /** False refuses all changes: `CONSOLE_MANAGE`. */
  manages: boolean;
  note: NoteAct;
  noteFirst: NoteFirst;
}

/**
 * The id of a request: its `Idempotency-Key`, or a new one.
 * @throws {RequestError} for a key that is no UUID.
 */
export function requestIdOf(ctx: Context): string {
  const key = ctx.get('Idempotency-Key').replaceAll('"', '');
  const id = key === '' ? randomUUID() : uuid(key);
  if (!(id instanceof Fault)) return id;
  const faults = [{ header: 'Idempotency-Key', detail: id.detail }];
  throw new RequestError('malformed-request', 'The header Idempotency-Key is not valid.', faults);
}

/** Largest body, in bytes. */
const longestBody = 4 * 1_024 * 1_024;
const types = ['application/json'];
const readBytes = collectBody(longestBody, types);

/**
 * The JSON object in the body of a request.
 * @throws {RequestError} 400, 413 or 415.
 */
export async function readObject(ctx: Context): Promise<Readonly<Record<string, unknown>>> {
  if (requireType(ctx, types, longestBody) !== undefined) {
    throw new RequestError('unsupported-media-type', 'Content-Encoding is not supported here.');
  }
  inviteBody(ctx);
  const value = parseJson(withoutMark(await readBytes(ctx)));
  if (isObject(value)) return value;
  throw malformedBody([{ pointer: '', detail: 'must be an object' }]);
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Most faults that an answer names. */
const mostFaults = 100;

/** The 400 that names the fields of a body. */
export function malformedBody(faults: readonly FieldError[]): RequestError {
  return new RequestError('malformed-request', 'The body is not valid; see errors.', faults.slice(0, mostFaults));
}

/** The faults of the fields of an object that are not known. `at`: its JSON pointer. */
export function unknownFields(
  at: string,
  values: Readonly<Record<string, unknown>>,
  known: readonly string[],
): FieldError[] {
  const unknown = Object.keys(values).filter((name) => !known.includes(name));
  const detail = `is unknown; known are ${known.join(', ')}`;
  return unknown.map((name) => ({ pointer: `${at}/${escaped(name.slice(0, 100))}`, detail }));
}

/** A name in a JSON pointer (RFC 6901). */
export function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
