/** The messages of an error; of an {@link AggregateError}, those of its errors. */
export function messagesOf(error: unknown): string[] {
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.flatMap(messagesOf);
  return [error instanceof Error ? error.message : String(error)];
}
