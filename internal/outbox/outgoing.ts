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
