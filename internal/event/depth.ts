/**
 * How many arrays and objects enclose the deepest value, up to `limit + 1`. Walks with a list of its own, since
 * a body of 256 KiB can nest deep enough to overflow the call stack.
 */
export function depthOf(value: unknown, limit: number): number {
  let depth = 0;
  let level = isContainer(value) ? [value] : [];
  while (level.length > 0 && depth <= limit) {
    depth += 1;
    level = contentsOf(level);
  }
  return depth;
}

/** In loops: `flatMap` and `filter` took longer than the whole validation. */
function contentsOf(containers: readonly object[]): object[] {
  const inner: object[] = [];
  for (const container of containers) {
    for (const value of Object.values(container)) if (isContainer(value)) inner.push(value);
  }
  return inner;
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
