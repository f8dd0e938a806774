/** Some of the items of several organizations. */
export interface Turn<T> {
  readonly items: readonly T[];
  /** True for the first items of each organization, which no other one may delay. */
  readonly isFirst: boolean;
}

/**
 * Divides items into parts of at most `size`: first the first `size` items of each organization,
 * then their next ones in turns. So an organization with 10,000 items delays the others by `size`
 * at most.
 */
export function inTurns<T extends { readonly organization: string | undefined }>(
  all: readonly T[],
  size: number,
): Turn<T>[] {
  const turns: T[][] = [];
  for (const own of Map.groupBy(all, ({ organization }) => organization).values()) {
    for (const [index, item] of own.entries()) (turns[Math.floor(index / size)] ??= []).push(item);
  }
  return turns.flatMap((turn, index) =>
    Array.from({ length: Math.ceil(turn.length / size) }, (_, part) => ({
      items: turn.slice(part * size, (part + 1) * size),
      isFirst: index === 0,
    })),
  );
}
