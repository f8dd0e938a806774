/** An optional text of an event, and its name in each form of the event. */
export interface OptionalField {
  /** In {@link AcceptedEvent} and in the limits. */
  readonly property: string;
  /** In the body of a request. */
  readonly request: string;
  /** In the answer. */
  readonly recorded: string;
  /** In the table `events`. */
  readonly column: string;
  /** Default of the limit, in Unicode characters. */
  readonly maxLength: number;
}

/**
 * The one table of optional fields. Types, schema, answer, job, fingerprint and SQL follow it.
 * New fields come last: a job holds the texts in this order, and older jobs hold fewer.
 */
export const optionalFields = [
  {
    property: 'description',
    request: 'description',
    recorded: 'description',
    column: 'description',
    maxLength: 10_000,
  },
  {
    property: 'errorId',
    request: 'error_id',
    recorded: 'error_id',
    column: 'error_id',
    maxLength: 255,
  },
  {
    property: 'errorDescription',
    request: 'error_description',
    recorded: 'error_description_detail',
    column: 'error_description',
    maxLength: 100_000,
  },
] as const satisfies readonly OptionalField[];

/**
 * The fields of the first release. Every job has their texts, and every fingerprint covers them.
 */
export const firstFields = 3;

type Field = (typeof optionalFields)[number];
export type OptionalProperty = Field['property'];
export type OptionalColumn = Field['column'];

/** A text for each optional field, by property; '' where the caller sent none. */
export type OptionalTexts = Readonly<Record<OptionalProperty, string>>;
/** As a request has them: absent and `null` are the same. */
export type RequestTexts = { readonly [Name in Field['request']]?: string | null };
/** As an answer has them. */
export type RecordedTexts = Readonly<Record<Field['recorded'], string>>;

/** The texts of an event, in the order of the table. */
export function textsOf(event: OptionalTexts): string[] {
  return optionalFields.map(({ property }) => event[property]);
}

/** An event's texts by property; `textOf` gives the text of each field. */
export function optionalTexts(textOf: (field: Field, index: number) => string): OptionalTexts {
  const texts: Partial<Record<OptionalProperty, string>> = {};
  for (const [index, field] of optionalFields.entries()) texts[field.property] = textOf(field, index);
  return texts as OptionalTexts;
}
