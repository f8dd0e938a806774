/**
 * A witness has another state of a log. This is no outage but evidence that the log was rewritten.
 */
export class WitnessRefusal extends Error {
  override readonly name = 'WitnessRefusal';
}

/** A witness does not cosign this one log, for example because it does not know it yet. */
export class UnknownLog extends Error {
  override readonly name = 'UnknownLog';
}
