import type { Context } from 'koa';
import { RequestError, type FieldError } from '../kit/errors/request-error.ts';
import { Fault } from './fault.ts';
import type { Parameter } from './parameters.ts';

/** The parameters of an endpoint: name → how its text is read. */
export type ParameterTable = Readonly<Record<string, Parameter<unknown>>>;

/** The values of the parameters that a request has. */
export type Values<Table extends ParameterTable> = {
  readonly [Name in keyof Table]?: Exclude<ReturnType<Table[Name]>, Fault>;
};

/**
 * Reads the query of a request by the table of its endpoint.
 * @throws {RequestError} that lists every parameter that is unknown, malformed or given twice.
 */
export function readQuery<Table extends ParameterTable>(
  ctx: Pick<Context, 'querystring'>,
  table: Table,
): Values<Table> {
  const values: Record<string, unknown> = {};
  const faults: FieldError[] = [];
  for (const [name, text] of pairsOf(ctx.querystring)) {
    const value = Object.hasOwn(values, name) ? new Fault('is given more than once') : readOne(table, name, text);
    if (value instanceof Fault) faults.push({ parameter: name.slice(0, 100), detail: value.detail });
    else values[name] = value;
  }
  if (faults.length > 0) throw malformedQuery(faults);
  return values as Values<Table>;
}

/** The 400 that names parameters of the query or the path. */
export function malformedQuery(faults: readonly FieldError[]): RequestError {
  return new RequestError('malformed-request', 'The request has invalid parameters; see errors.', faults);
}

function readOne(table: ParameterTable, name: string, text: string | Fault): unknown {
  if (text instanceof Fault) return text;
  const read = Object.hasOwn(table, name) ? table[name] : undefined;
  if (read === undefined) return new Fault(`is unknown; use ${Object.keys(table).join(', ') || 'none'}`);
  return read(text);
}

/** Names and texts of a query, in order. A text that cannot be decoded is a fault. */
function pairsOf(query: string): [name: string, text: string | Fault][] {
  const parts = query.split('&').filter((part) => part !== '');
  return parts.map((part) => {
    const [name = '', ...rest] = part.split('=');
    const decodedName = decoded(name);
    return [typeof decodedName === 'string' ? decodedName : name, decoded(rest.join('='))];
  });
}

/** Decodes a form-encoded text strictly: nothing is replaced. */
function decoded(text: string): string | Fault {
  return decodeStrictly(text.replaceAll('+', ' '));
}

/** Decodes percent-encoded UTF-8 strictly. */
export function decodeStrictly(text: string): string | Fault {
  try {
    return decodeURIComponent(text);
  } catch {
    return new Fault('is not valid percent-encoded UTF-8');
  }
}
