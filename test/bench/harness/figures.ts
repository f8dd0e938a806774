/** The middle one, or between the two in the middle. */
export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (index: number): number => sorted[index] ?? Number.NaN;
  return (at((sorted.length - 1) >> 1) + at(sorted.length >> 1)) / 2;
}

/** The value below which that part of the values lies, from 0 to 1. */
export function percentile(values: number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
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

export function figure(name: string, value: number, unit: string, bar?: Bar): Figure {
  return { name, value, unit, ...(bar && { bar }) };
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

/** Measurements of several sides over rounds. */
export class Rounds<Side extends string, Measure extends string> {
  readonly #measured: { side: Side; values: Record<Measure, number> }[] = [];

  add(side: Side, values: Record<Measure, number>): void {
    this.#measured.push({ side, values });
  }

  median(measure: Measure, side: Side): number {
    return median(this.#of(measure, side));
  }

  /**
   * The median of the ratios of each round: what a neighbour takes from a round, it takes from both
   * sides.
   */
  ratio(measure: Measure, side: Side, to: Side): number {
    const others = this.#of(measure, to);
    return median(this.#of(measure, side).map((value, round) => value / (others[round] ?? Number.NaN)));
  }

  #of(measure: Measure, side: Side): number[] {
    return this.#measured.filter((each) => each.side === side).map(({ values }) => values[measure]);
  }
}

/** Measures each side in every round. A round that warms up may come first; it is not counted. */
export async function compare<Side extends string, Measure extends string>(
  sides: readonly Side[],
  rounds: number,
  measure: (side: Side) => Promise<Record<Measure, number>>,
  { warmUp = false } = {},
): Promise<Rounds<Side, Measure>> {
  const found = new Rounds<Side, Measure>();
  for (let round = warmUp ? -1 : 0; round < rounds; round += 1) {
    for (const side of turns(sides, Math.max(0, round))) {
      const values = await measure(side);
      if (round >= 0) found.add(side, values);
    }
  }
  return found;
}

/**
 * Measures all sides at the same time in every round, so that the speed of the machine is the same
 * for all. A round that warms up comes first. `before`: run for each side, one after the other.
 */
export async function compareAtOnce<Side extends string, Measure extends string>(
  sides: readonly Side[],
  rounds: number,
  measure: (side: Side) => Promise<Record<Measure, number>>,
  before: (side: Side) => Promise<void>,
): Promise<Rounds<Side, Measure>> {
  const found = new Rounds<Side, Measure>();
  for (let round = -1; round < rounds; round += 1) {
    for (const side of sides) await before(side);
    const measured = await Promise.all(sides.map(async (side) => ({ side, values: await measure(side) })));
    if (round >= 0) for (const { side, values } of measured) found.add(side, values);
  }
  return found;
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
