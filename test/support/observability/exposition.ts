import type { World } from './promtool.ts';

/** Values by series, as processes show them at one moment. */
export interface Scrape {
  /** Real time, in seconds. */
  at: number;
  values: Map<string, number>;
}

/**
 * Reads what processes show at `/metrics`, each with a label of its own; Runledger's own figures
 * only.
 */
export function parseExpositions(pages: Record<string, string>): Scrape {
  const values = new Map<string, number>();
  for (const [pod, text] of Object.entries(pages)) {
    for (const line of text.split('\n')) {
      const [, name, labels, value] = /^(runledger_\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
      const number = Number(value);
      if (name !== undefined && Number.isFinite(number)) {
        values.set(`${name}{${[labels, 'namespace="rl"', `pod="${pod}"`].filter(Boolean).join(',')}}`, number);
      }
    }
  }
  return { at: Date.now() / 1_000, values };
}

/** Two scrapes, taken as a minute apart, and for how many minutes things go on as between them. */
export interface Phase {
  first: Scrape;
  second: Scrape;
  minutes: number;
}

/** Strings phases together to one world, on promtool's clock, which begins at 0. */
export function simulate(phases: Phase[]): World {
  const series = new Set(phases.flatMap(({ first, second }) => [...first.values.keys(), ...second.values.keys()]));
  return Object.fromEntries([...series].map((name) => [name, phasesOf(name, phases)]));
}

function phasesOf(series: string, phases: Phase[]): string {
  let elapsed = 0;
  let reached: number | undefined;
  const parts = phases.map(({ first, second, minutes }) => {
    const [before, after] = [first.values.get(series), second.values.get(series)];
    const began = elapsed;
    elapsed += minutes * 60;
    if (before === undefined || after === undefined) return `_x${minutes}`;
    const [from, step] = course(series, { before, after, reached, began, age: first.at - before });
    reached = from + step * minutes;
    return `${from}+${step}x${minutes - 1}`;
  });
  return parts.join(' ');
}

interface Seen {
  before: number;
  after: number;
  /** Where the phase before has left it. */
  reached: number | undefined;
  /** When the phase begins on the simulated clock, in seconds. */
  began: number;
  /** How long ago it was when seen first, where it is a time. */
  age: number;
}

/** Where a series begins in a phase, and by how much it grows every minute. */
function course(series: string, { before, after, reached, began, age }: Seen): [from: number, step: number] {
  const growth = Math.max(0, after - before);
  // A time that went on goes on with the clock, and so does an age that grew; what stood still
  // stands.
  if (/_timestamp_seconds\{/.test(series)) return [began - age, growth > 0 ? 60 : 0];
  if (/_age_seconds\{/.test(series)) return [before, growth > 1 ? 60 : 0];
  if (/(_total|_count|_sum|_bucket)\{/.test(series)) return [reached ?? before, growth];
  return series.startsWith('runledger_queue_') ? [before, growth] : [after, 0];
}
