/** @throws the reason of the signal once it is aborted, and what that means. */
export function throwIfStopped(signal: AbortSignal | undefined, meaning: string): void {
  if (signal?.aborted !== true) return;
  throw new Error(`${messagesOf(signal.reason).join()}; ${meaning}`, { cause: signal.reason });
}

/** The messages of an error; of an {@link AggregateError}, those of its errors. */
export function messagesOf(error: unknown): string[] {
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.flatMap(messagesOf);
  return [error instanceof Error ? error.message : String(error)];
}
