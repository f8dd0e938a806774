/** An event that shall reach Runledger once. */
export interface Outgoing {
  /** Its `Idempotency-Key`: the same at each attempt, of whatever process. */
  readonly key: string;
  /** The body of the request, as JSON: the same at each attempt. */
  readonly body: string;
  /** When it happened, in ms. */
  readonly at: number;
}

/** The result of an attempt. */
export type Attempt =
  /** Runledger has recorded it. */
  | 'recorded'
  /** Runledger will never take it. */
  | 'refused'
  /** Try again later. */
  | 'failed';

/** Tries once. Never rejects. */
export type Send = (event: Outgoing) => Promise<Attempt>;

/**
 * Tries events in one request. Resolves with the keys of those that Runledger has recorded; none
 * where it takes no such requests. Never rejects.
 */
export type SendMany = (events: readonly Outgoing[]) => Promise<ReadonlySet<string>>;
