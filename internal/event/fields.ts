/** An optional text of an event, and its name in each representation. */
export interface OptionalField {
  /** In {@link AcceptedEvent} and in the limits. */
  readonly property: string;
  /** In the request body. */
  readonly request: string;
  /** In the answer. */
  readonly recorded: string;
  /** In the table `events`. */
  readonly column: string;
  /** The limit, in Unicode characters. */
  readonly maxLength: number;
  /** How a screen shows it: as a short mark, or as sentences after the marks. */
  readonly shown: 'mark' | 'sentences';
}

/**
 * The one table of optional fields. Types, schema, answer, job, fingerprint, SQL, search, exports,
 * screens and the restore of dead letters follow it. Append new fields: a job holds the texts in
 * this order, and older jobs hold fewer.
 */
export const optionalFields = [
  {
    property: 'description',
    request: 'description',
    recorded: 'description',
    column: 'description',
    maxLength: 10_000,
    shown: 'sentences',
  },
  {
    property: 'errorId',
    request: 'error_id',
    recorded: 'error_id',
    column: 'error_id',
    maxLength: 255,
    shown: 'mark',
  },
  {
    property: 'errorDescription',
    request: 'error_description',
    recorded: 'error_description_detail',
    column: 'error_description',
    maxLength: 100_000,
    shown: 'sentences',
  },
] as const satisfies readonly OptionalField[];

/**
 * How many fields the first release had. Every job holds them, and every fingerprint covers them.
 */
export const firstFields = 3;

type Field = (typeof optionalFields)[number];
export type OptionalProperty = Field['property'];
export type OptionalColumn = Field['column'];

/** A text for each optional field, by property; '' where the caller sent none. */
export type OptionalTexts = Readonly<Record<OptionalProperty, string>>;
/** As a request holds them; absent and `null` mean the same. */
export type RequestTexts = { readonly [Name in Field['request']]?: string | null };
/** As an answer holds them. */
export type RecordedTexts = Readonly<Record<Field['recorded'], string>>;

/** The texts of an event, in the order of the table. */
export function textsOf(event: OptionalTexts): string[] {
  return optionalFields.map(({ property }) => event[property]);
}

/** A text of an event that is not empty, with its name in answers. */
export interface ShownText {
  readonly name: Field['recorded'];
  readonly text: string;
}

/** The texts of an event that a screen shows in this way, without empty ones. */
export function shownTexts(event: RecordedTexts, shown: Field['shown']): ShownText[] {
  return optionalFields
    .filter((field) => field.shown === shown && event[field.recorded] !== '')
    .map(({ recorded }) => ({ name: recorded, text: event[recorded] }));
}

/** Builds an event's texts by property; `textOf` returns the text of each field. */
export function optionalTexts(textOf: (field: Field, index: number) => string): OptionalTexts {
  const texts: Partial<Record<OptionalProperty, string>> = {};
  for (const [index, field] of optionalFields.entries()) texts[field.property] = textOf(field, index);
  return texts as OptionalTexts;
}
