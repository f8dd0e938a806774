/** What an error says. Anything may be thrown: a value that is no error is written as a text. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
