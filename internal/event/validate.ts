import { _, Ajv2020, type CodeKeywordDefinition, type ErrorObject } from 'ajv/dist/2020.js';
import { RequestError, type FieldError } from '../kit/errors/request-error.ts';
import { mayHaveOccurred, timeOf } from './occurred-at.ts';
import { eventKinds, validatedSchema, type EventRequest } from './schema.ts';
import { isLonger, isStorable } from './stored-text.ts';

/** Deepest nesting of a body. A valid event needs one level; ignored fields may use the rest. */
export const maxDepth = 32;

/** A JSON Schema compiler with the formats `storable` and `date-time`. */
export function createSchemaCompiler(): Ajv2020 {
  const formats = { storable: isStorable, 'date-time': (text: string) => timeOf(text) !== undefined };
  const compiler = new Ajv2020({ allErrors: true, allowUnionTypes: true, formats });
  return compiler.removeKeyword('maxLength').addKeyword(maxLength);
}

/** Usually needs only a text's length, where the library would count its characters. */
const maxLength: CodeKeywordDefinition = {
  keyword: 'maxLength',
  type: 'string',
  schemaType: 'number',
  error: { message: 'is too long', params: ({ schemaCode }) => _`{ limit: ${schemaCode} }` },
  code: (context) => {
    const tooLong = context.gen.scopeValue('func', { ref: isLonger });
    context.fail(_`${tooLong}(${context.data}, ${context.schemaCode})`);
  },
};

/**
 * Compiles the validation of request bodies. The returned function types the value, or throws a
 * {@link RequestError} that lists every failing field by JSON pointer. `now`: ms since the Unix
 * epoch.
 */
export function createEventValidator(now = Date.now): (body: unknown) => EventRequest {
  const validate = createSchemaCompiler().compile<EventRequest>(validatedSchema());
  return (body) => {
    if (isDeeperThan(maxDepth, body)) {
      throw invalid([{ pointer: '', detail: `must not be nested deeper than ${maxDepth} levels` }]);
    }
    const faults = validate(body) ? [] : withoutRepeats((validate.errors ?? []).map(describe));
    if (!isInTime(body, now)) faults.push(outOfTime);
    if (dotSegments.has((Object(body) as Partial<EventRequest>).execution_id)) faults.push(notAddressable);
    if (faults.length > 0) throw invalid(faults);
    return body as EventRequest;
  };
}

/** URLs treat these path segments specially, so no address could hold them as an id. */
const dotSegments = new Set<unknown>(['.', '..']);

const notAddressable: FieldError = {
  pointer: '/execution_id',
  detail: 'must not be . or .., which no address can hold',
};

const outOfTime: FieldError = {
  pointer: '/occurred_at',
  detail: 'must not be more than 90 days ago, nor more than 5 minutes ahead',
};

/** False if the body has a time at which the event cannot have occurred. */
function isInTime(body: unknown, now: () => number): boolean {
  const text = Object(body).occurred_at as unknown;
  const time = typeof text === 'string' ? timeOf(text) : undefined;
  return time === undefined || mayHaveOccurred(time, now());
}

function invalid(faults: FieldError[]): RequestError {
  return new RequestError('invalid-event', 'The body is not a valid execution event; see errors.', faults);
}

/** A kind that is not a string fails `type` and `enum` alike; one explanation is enough. */
function withoutRepeats(faults: FieldError[]): FieldError[] {
  return [...new Map(faults.map((fault) => [JSON.stringify(fault), fault])).values()];
}

function describe(error: ErrorObject): FieldError {
  if (error.keyword === 'required') {
    return { pointer: `/${String(error.params['missingProperty'])}`, detail: 'is required' };
  }
  return { pointer: error.instancePath, detail: explain(error) };
}

const oneOfTheKinds = `must be one of ${eventKinds.join(', ')}`;
const typeNames: Record<string, string> = { '': 'must be a JSON object', '/event': oneOfTheKinds };

function explain(error: ErrorObject): string {
  switch (error.keyword) {
    case 'type':
      return typeNames[error.instancePath] ?? 'must be a string';
    case 'pattern':
      return 'must be a UUID such as 123e4567-e89b-12d3-a456-426614174000';
    case 'enum':
      return oneOfTheKinds;
    case 'minLength':
      return 'must not be empty';
    case 'maxLength':
      return `must not be longer than ${String(error.params['limit'])} characters`;
    case 'format':
      return error.params['format'] === 'date-time'
        ? 'must be a time in RFC 3339 with an offset, such as 2026-01-31T08:00:00Z'
        : 'must not contain U+0000 or unpaired surrogates';
    default:
      return error.message ?? 'is not valid';
  }
}

/**
 * True if arrays and objects are nested deeper than `limit` levels. It stops one level past the
 * limit, so a body of 200,000 levels cannot overflow the call stack.
 */
function isDeeperThan(limit: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (limit === 0) return true;
  for (const inner of Object.values(value)) if (isDeeperThan(limit - 1, inner)) return true;
  return false;
}
