/** Durations in milliseconds, as a person reads them. */
export interface Summary {
  readonly count: number;
  readonly median: number;
  readonly worst: number;
}

export function summarize(durations: readonly number[]): Summary {
  const sorted = durations.toSorted((a, b) => a - b).map(Math.round);
  return { count: sorted.length, median: sorted[Math.floor(sorted.length / 2)] ?? NaN, worst: sorted.at(-1) ?? NaN };
}
