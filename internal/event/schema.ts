import { optionalFields, type OptionalProperty, type RecordedTexts, type RequestTexts } from './fields.ts';
import { uuidPattern } from './uuid.ts';

/** The kinds of event that callers send (docs/report/events.md). */
export const eventKinds = ['START', 'EVENT', 'WARNING', 'ERROR', 'END'] as const;
export type EventKind = (typeof eventKinds)[number];

/**
 * The maximum length of each value in a request, in Unicode characters. Part of the contract, so
 * the same in every installation.
 */
export const fieldLimits = {
  executionId: 255,
  ...Object.fromEntries(optionalFields.map(({ property, maxLength }) => [property, maxLength])),
} as Record<'executionId' | OptionalProperty, number>;

/**
 * The JSON Schema of the body of `POST /v1/register/`. `format: storable` rejects U+0000 and lone
 * surrogates, which Postgres cannot store. Unknown fields are ignored.
 */
export function eventRequestSchema() {
  const texts = optionalFields.map(({ request, property }) => {
    const schema = { type: ['string', 'null'], format: 'storable', maxLength: fieldLimits[property] };
    return [request, schema] as const;
  });
  return {
    type: 'object',
    required: ['automation_id', 'execution_id', 'event'],
    properties: {
      automation_id: {
        type: 'string',
        pattern: uuidPattern,
      },
      execution_id: { type: 'string', minLength: 1, maxLength: fieldLimits.executionId, format: 'storable' },
      event: { type: 'string', enum: eventKinds },
      occurred_at: { type: ['string', 'null'], format: 'date-time' },
      ...Object.fromEntries(texts),
    },
  };
}

/**
 * The schema for validation. It also accepts a text under its name in answers, such as
 * `error_description_detail`.
 */
export function validatedSchema() {
  const schema = eventRequestSchema();
  const properties: Record<string, unknown> = schema.properties;
  const named = optionalFields.map(({ request, recorded }) => [recorded, properties[request]] as const);
  return { ...schema, properties: { ...properties, ...Object.fromEntries(named) } };
}

/** The fields of a request, by their documented names. */
export const requestFields: ReadonlySet<string> = new Set(Object.keys(eventRequestSchema().properties));

/** A validated body. {@link eventRequestSchema} has each required field too. */
export interface EventRequest extends RequestTexts, Partial<NullableTexts> {
  automation_id: string;
  execution_id: string;
  event: EventKind;
  /** RFC 3339, with an offset. */
  occurred_at?: string | null;
}

/** The texts under their names in answers. */
type NullableTexts = { readonly [Name in keyof RecordedTexts]: string | null };
