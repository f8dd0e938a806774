import type { Limits } from './sizing.ts';
import type { Trace } from './traces.ts';

/** What callers and readers see while a trace is replayed. */
export interface Replayed {
  /** Events that were answered with 503. */
  refused: number;
  /** Most events that waited at once. */
  mostWaiting: number;
  /** Seconds until an event is stored: of 95 % of them, and of the last. */
  p95: number;
  longest: number;
}

/** Replays arrivals second by second: what is accepted, what waits, and when it is stored. */
export function replay(trace: Trace, limits: Limits, waitingBytes: number): Replayed {
  const room = limits.memory / waitingBytes;
  let waiting = 0;
  let mostWaiting = 0;
  let refused = 0;
  /** Accepted and stored so far, after each second. */
  const accepted: number[] = [];
  const stored: number[] = [];
  const sum = { accepted: 0, stored: 0 };
  for (let second = 0; second < trace.length || waiting > 0; second += 1) {
    const arrived = trace[second] ?? 0;
    const taken = Math.min(arrived, limits.accepts, room + limits.stores - waiting);
    const done = Math.min(waiting + taken, limits.stores);
    refused += arrived - taken;
    waiting += taken - done;
    mostWaiting = Math.max(mostWaiting, waiting);
    accepted.push((sum.accepted += taken));
    stored.push((sum.stored += done));
  }
  return { refused, mostWaiting, ...waitsOf(accepted, stored) };
}

/** Events are stored in their order: those of a second are once as many are stored as had come. */
function waitsOf(accepted: number[], stored: number[]): Pick<Replayed, 'p95' | 'longest'> {
  /** Events by the seconds that they waited. */
  const waits = stored.map(() => 0);
  let longest = 0;
  let at = 0;
  accepted.forEach((sum, second) => {
    // Sums of fractions differ in their last digits.
    while ((stored[at] ?? sum) < sum - 1e-3) at += 1;
    const waited = Math.max(0, at - second);
    const events = sum - (accepted[second - 1] ?? 0);
    waits[waited] = (waits[waited] ?? 0) + events;
    if (events > 0) longest = Math.max(longest, waited);
  });
  const most = 0.95 * (accepted.at(-1) ?? 0);
  let counted = 0;
  const p95 = waits.findIndex((events) => (counted += events) >= most);
  return { p95, longest };
}
