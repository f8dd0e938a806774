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
  /** The limit, in Unicode characters. */
  readonly maxLength: number;
  /** How a screen shows it: as a short mark, or as sentences that follow the marks. */
  readonly shown: 'mark' | 'sentences';
}

/**
 * The one table of optional fields. Types, schema, answer, job, fingerprint, SQL, search, exports,
 * screens and the restoring of dead letters follow it. New fields come last: a job holds the texts
 * in this order, and older jobs hold fewer.
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

/** A text of an event that is not empty, and the name that answers give to it. */
export interface ShownText {
  readonly name: Field['recorded'];
  readonly text: string;
}

/** The texts of an event that a screen shows in one way, without the empty ones. */
export function shownTexts(event: RecordedTexts, shown: Field['shown']): ShownText[] {
  return optionalFields
    .filter((field) => field.shown === shown && event[field.recorded] !== '')
    .map(({ recorded }) => ({ name: recorded, text: event[recorded] }));
}

/** An event's texts by property; `textOf` gives the text of each field. */
export function optionalTexts(textOf: (field: Field, index: number) => string): OptionalTexts {
  const texts: Partial<Record<OptionalProperty, string>> = {};
  for (const [index, field] of optionalFields.entries()) texts[field.property] = textOf(field, index);
  return texts as OptionalTexts;
}
