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

/** In loops, without `flatMap` and `filter` and without a list of an object's values (test/bench/README.md says what those cost). */
function contentsOf(containers: readonly object[]): object[] {
  const inner: object[] = [];
  for (const container of containers) {
    if (Array.isArray(container)) addContainers(container, inner);
    else for (const key in container) addContainer(container[key as keyof typeof container], inner);
  }
  return inner;
}

function addContainers(values: readonly unknown[], containers: object[]): void {
  for (const value of values) addContainer(value, containers);
}

function addContainer(value: unknown, containers: object[]): void {
  if (isContainer(value)) containers.push(value);
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
