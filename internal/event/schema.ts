import type { FromSchema } from 'json-schema-to-ts';

/** The kinds of event a caller may send (spec, "Execution event"). */
export const eventKinds = ['START', 'EVENT', 'WARNING', 'ERROR', 'END'] as const;
export type EventKind = (typeof eventKinds)[number];

/** Longest values taken, in Unicode characters (design, section 2, "Limits"). */
export interface FieldLimits {
  executionId: number;
  errorId: number;
  description: number;
  errorDescription: number;
}

/** The defaults of the settings of these names (README, Settings): for what validates without a configuration. */
export const defaultFieldLimits: FieldLimits = {
  executionId: 255,
  errorId: 255,
  description: 10_000,
  errorDescription: 100_000,
};

/**
 * The body of `POST /v1/register/`: the one source for validation, types and the OpenAPI document.
 *
 * `format: storable` refuses U+0000 and lone surrogates, which Postgres' text cannot hold. `null` in an optional
 * field is the same as its absence. Unknown fields are allowed, and ignored.
 */
export function eventRequestSchema(limits: FieldLimits) {
  const freeText = { type: ['string', 'null'], format: 'storable' } as const;
  return {
    type: 'object',
    required: ['automation_id', 'execution_id', 'event'],
    properties: {
      automation_id: {
        type: 'string',
        pattern: '^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$',
      },
      execution_id: { type: 'string', minLength: 1, maxLength: limits.executionId, format: 'storable' },
      event: { type: 'string', enum: eventKinds },
      description: { ...freeText, maxLength: limits.description },
      error_id: { ...freeText, maxLength: limits.errorId },
      error_description: { ...freeText, maxLength: limits.errorDescription },
    },
  } as const;
}

/** A body that has passed validation. */
export type EventRequest = FromSchema<ReturnType<typeof eventRequestSchema>>;
