import { optionalFields, type OptionalProperty, type RecordedTexts, type RequestTexts } from './fields.ts';

/** The kinds of event that a caller may send (docs/reference/api.md). */
export const eventKinds = ['START', 'EVENT', 'WARNING', 'ERROR', 'END'] as const;
export type EventKind = (typeof eventKinds)[number];

/**
 * The longest values that a request may hold, in Unicode characters. They are part of the contract:
 * the same in every installation.
 */
export const fieldLimits = {
  executionId: 255,
  ...Object.fromEntries(optionalFields.map(({ property, maxLength }) => [property, maxLength])),
} as Record<'executionId' | OptionalProperty, number>;

/**
 * JSON Schema of the body of `POST /v1/register/`. `format: storable` rejects U+0000 and lone
 * surrogates, which text in Postgres cannot hold. Unknown fields are ignored.
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
        pattern: '^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$',
      },
      execution_id: { type: 'string', minLength: 1, maxLength: fieldLimits.executionId, format: 'storable' },
      event: { type: 'string', enum: eventKinds },
      occurred_at: { type: ['string', 'null'], format: 'date-time' },
      ...Object.fromEntries(texts),
    },
  };
}

/**
 * The schema that validates: a text may also have the name that answers give to it, as they name
 * `error_description`.
 */
export function validatedSchema() {
  const schema = eventRequestSchema();
  const properties: Record<string, unknown> = schema.properties;
  const named = optionalFields.map(({ request, recorded }) => [recorded, properties[request]] as const);
  return { ...schema, properties: { ...properties, ...Object.fromEntries(named) } };
}

/** The fields of a request, by the names that documents use. */
export const requestFields: ReadonlySet<string> = new Set(Object.keys(eventRequestSchema().properties));

/** A body that has passed validation. Each required field is in {@link eventRequestSchema} too. */
export interface EventRequest extends RequestTexts, Partial<NullableTexts> {
  automation_id: string;
  execution_id: string;
  event: EventKind;
  /** RFC 3339, with an offset. */
  occurred_at?: string | null;
}

/** The texts by the names of answers. */
type NullableTexts = { readonly [Name in keyof RecordedTexts]: string | null };
