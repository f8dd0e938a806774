/** The middle one, or between the two in the middle. */
export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (index: number): number => sorted[index] ?? Number.NaN;
  return (at((sorted.length - 1) >> 1) + at(sorted.length >> 1)) / 2;
}

/** What a figure has to reach. */
export type Bar = { atMost: number } | { atLeast: number };

/** One line of the table. */
export interface Figure {
  name: string;
  value: number;
  unit: string;
  bar?: Bar;
}

/** What a scenario found: the figures, and what it was measured with where that needs saying. */
export interface Finding {
  figures: Figure[];
  notes?: string[];
}

/** Undefined where there is no bar. */
export function met({ value, bar }: Figure): boolean | undefined {
  if (bar === undefined) return undefined;
  return 'atMost' in bar ? value <= bar.atMost : value >= bar.atLeast;
}

/** Values of several rounds, by name. */
export class Rounds<Name extends string> {
  readonly #values = new Map<Name, number[]>();

  add(name: Name, value: number): void {
    this.#values.set(name, [...this.#of(name), value]);
  }

  median(name: Name): number {
    return median(this.#of(name));
  }

  /**
   * The median of the ratios of each round: what a neighbour takes from a round, it takes from both
   * sides.
   */
  ratio(name: Name, to: Name): number {
    return median(this.#of(name).map((value, round) => value / (this.#of(to)[round] ?? Number.NaN)));
  }

  #of(name: Name): number[] {
    return this.#values.get(name) ?? [];
  }
}

/**
 * The sides in the order of a round: each goes first, second, … equally often, and after a lap of
 * rounds the other way round: what a side leaves behind, as Redis rewriting its log, does not
 * always meet the same next one.
 */
export function turns<T>(sides: readonly T[], round: number): T[] {
  const first = round % sides.length;
  const order = [...sides.slice(first), ...sides.slice(0, first)];
  const backwards = Math.floor(round / sides.length) % 2 === 1;
  return backwards ? order.toReversed() : order;
}
