/**
 * The verdicts that `docs/watch/verdicts.md` promises, as an owner would find them with the record
 * and a calendar: slow, and without anything of `internal/expectation`.
 */
const minuteMs = 60_000;

/** What the record has of a run; times in ms since the Unix epoch. */
export interface RecordedRun {
  id: string;
  startedAt: number;
  failedAt: number | undefined;
  endedAt: number | undefined;
  byHand: boolean;
}

/** Rules, and since when each holds. */
export interface OwnersRules {
  declaredAt: number;
  minutes: readonly number[];
  hours: readonly number[];
  everyHour: boolean;
  /** 0 is Sunday. */
  weekdays: readonly number[];
  timeZone: string;
  graceMs: number;
}

/** The expected times of a span: looks at the clock of the zone in each minute. */
export function expectedTimes(rules: OwnersRules, from: number, until: number): number[] {
  const { minutes, hours, everyHour, weekdays, timeZone } = rules;
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  });
  const seen = new Set<string>();
  const times: number[] = [];
  for (let time = from; time < until; time += minuteMs) {
    const label = format.format(time);
    const [, day = '', month = '', year = '', hour = '', minute = ''] =
      /(\d+).(\d+).(\d+), (\d+):(\d+)/.exec(label) ?? [];
    const weekday = new Date(`${year}-${month}-${day}T00:00:00Z`).getUTCDay();
    if (!minutes.includes(Number(minute)) || !hours.includes(Number(hour)) || !weekdays.includes(weekday)) continue;
    // A fixed hour that comes twice expects one run.
    if (!everyHour && seen.has(label)) continue;
    seen.add(label);
    times.push(time);
  }
  return times;
}

/** The expected time that a start counts for. */
function timeOf(start: number, times: readonly number[]): number {
  const before = times.findLast((time) => time <= start) ?? -Infinity;
  const next = times.find((time) => time > start) ?? Infinity;
  const early = Math.min(5 * minuteMs, (next - before) / 2);
  return next - start <= early ? next : before;
}

export interface Span {
  from: number;
  until: number;
}

/** The expected times that are missing or late: in each pause, the first one that can be judged. */
export function unmetTimes(
  rules: OwnersRules,
  runs: readonly RecordedRun[],
  gaps: readonly Span[],
  until: number,
): number[] {
  const day = 24 * 60 * minuteMs;
  const times = expectedTimes(rules, rules.declaredAt - 7 * day, until + 7 * day);
  const starts = runs.filter(({ byHand }) => !byHand).map(({ startedAt }) => startedAt);
  const sorted = starts.toSorted((a, b) => a - b);
  const pauses = [undefined, ...sorted].map((last, index) => ({ last, next: sorted[index] ?? Infinity }));
  return pauses.flatMap(({ last, next }) => {
    const counted = last === undefined ? -Infinity : timeOf(last, times);
    const open = times.filter((time) => {
      const deadline = time + rules.graceMs;
      return time > counted && time >= rules.declaredAt && deadline < next && deadline <= until;
    });
    const judged = open.find((time) => !gaps.some((gap) => touches(gap, time - 5 * minuteMs, time + rules.graceMs)));
    return judged ?? [];
  });
}

/** A duration that runs may take, and when that was declared. */
export interface OwnersLimit {
  since: number;
  maxMs: number;
}

/** The runs that took too long, by the limit that held when they started. */
export function overruns(
  limits: readonly OwnersLimit[],
  runs: readonly RecordedRun[],
  gaps: readonly Span[],
  until: number,
): RecordedRun[] {
  return runs.filter(({ startedAt, endedAt = Infinity }) => {
    const limit = limits.findLast(({ since }) => since <= startedAt);
    if (limit === undefined) return false;
    const deadline = startedAt + limit.maxMs;
    return deadline <= until && endedAt > deadline && !gaps.some((gap) => touches(gap, startedAt, deadline));
  });
}

/** From when to when the last outcomes were so many failures in a row. */
export function failingSpans(since: number, inARow: number, runs: readonly RecordedRun[]): Span[] {
  const judged = runs.filter(({ startedAt }) => startedAt >= since);
  const times = judged.flatMap(({ failedAt = [], endedAt = [] }) => [failedAt, endedAt].flat());
  const spans: Span[] = [];
  for (const time of times.toSorted((a, b) => a - b)) {
    const isFailing = failuresInARow(judged, time) >= inARow;
    const last = spans.at(-1);
    const isOpen = last?.until === Infinity;
    if (isFailing && !isOpen) spans.push({ from: time, until: Infinity });
    if (!isFailing && last !== undefined && isOpen) last.until = time;
  }
  return spans;
}

/** The failures among the outcomes that are known at a time, from the latest one back. */
function failuresInARow(runs: readonly RecordedRun[], time: number): number {
  const known = runs.flatMap(({ failedAt = Infinity, endedAt = Infinity }) => {
    if (failedAt <= time) return { at: failedAt, failed: true };
    return endedAt <= time ? { at: endedAt, failed: false } : [];
  });
  const latestFirst = known.toSorted((a, b) => b.at - a.at);
  const success = latestFirst.findIndex(({ failed }) => !failed);
  return success === -1 ? latestFirst.length : success;
}

function touches(gap: Span, from: number, until: number): boolean {
  return gap.from <= until && gap.until >= from;
}
