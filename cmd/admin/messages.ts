/** The message of an error; for an {@link AggregateError}, those of its errors. */
export function messagesOf(error: unknown): string[] {
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.flatMap(messagesOf);
  return [messageOf(error)];
}

/** The message of an error, and on another line that of its first cause unless it contains it. */
export function withCause(error: unknown): string {
  const [message, cause] = [messageOf(error), messageOf(firstCause(error))];
  return message.includes(cause) ? message : `${message}\nCause: ${cause}`;
}

function firstCause(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? firstCause(error.cause) : error;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** @throws the reason of the signal once it is aborted, with what that means. */
export function throwIfStopped({ aborted, reason }: AbortSignal, meaning: string): void {
  if (aborted) throw new Error(`${messagesOf(reason).join()}; ${meaning}`, { cause: reason });
}
