/**
 * How many arrays and objects enclose the deepest value, up to `limit + 1`. Walks with a list of its own, since
 * a body of 256 KiB can nest deep enough to overflow the call stack.
 */
export function depthOf(value: unknown, limit: number): number {
  let depth = 0;
  let level = [value].filter(isContainer);
  while (level.length > 0 && depth <= limit) {
    depth += 1;
    level = level.flatMap((container) => Object.values(container).filter(isContainer));
  }
  return depth;
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
