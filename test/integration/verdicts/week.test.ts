import { expect } from 'chai';
import { declare } from '../../support/expectations.ts';
import { Random, seedOfRun } from '../../support/fault/random.ts';
import { eachDatabase } from '../../support/store.ts';
import { planOutages, type Outage } from '../../support/week/outages.ts';
import { graceMs, maxDurationMs, planRuns, type TrueRun } from '../../support/week/runs.ts';
import { WeekWorld, type Sent } from '../../support/week/world.ts';

const minuteMs = 60_000;
const stepMs = 15_000;

/** A week with a change of daylight saving. */
const begin = Date.parse('2026-10-21T00:00:00Z');
const end = begin + 7 * 24 * 60 * minuteMs;

/** Between two expected times. */
const declaredAt = begin + 20 * minuteMs;

/** By so much clocks may be wrong, with a reserve, in ms. */
const slackMs = 6 * minuteMs;

const automations = [
  { schedule: '0 * * * *', timeZone: 'UTC' },
  { schedule: '30 * * * *', timeZone: 'Europe/Madrid' },
  { schedule: '10 */2 * * *', timeZone: 'America/New_York' },
  { schedule: '30 2 * * *', timeZone: 'Europe/Madrid' },
  { schedule: '45 1-23/3 * * 1-5', timeZone: 'Australia/Lord_Howe' },
].map((starts, index) => ({ ...starts, automationId: `0190a0b0-0000-7000-8000-0000000000${index + 10}` }));

function sentOf({ automationId, executionId, startsAt, endsAt, failed }: TrueRun, retries: boolean): Sent[] {
  if (startsAt === undefined) return [];
  const sent = (at: number, kind: Sent['kind']) => ({ at, automationId, executionId, kind, retries });
  return [sent(startsAt, 'START'), ...(failed ? [sent(endsAt, 'ERROR')] : []), sent(endsAt, 'END')];
}

describe('a week with outages of each part', () => {
  const database = eachDatabase();

  it('has no false alert, misses none and tells nothing twice', async function () {
    this.timeout(300_000);
    const seed = seedOfRun();
    const random = new Random(seed);
    const outages = planOutages(random, begin, end);
    expect(outages.length, 'outages').to.be.at.least(200);
    const runs = planRuns(random, automations, declaredAt, end);
    const world = new WeekWorld(database.db, random, outages);
    for (const { automationId, ...starts } of automations) {
      const expected = { ...starts, grace: '10m', maxDuration: '30m', failures: { consecutive: 1 } };
      await declare(database.db, { automationId, expect: expected, declaredAt });
    }
    const lost = await live(world, random, runs);
    const about = `seed ${seed}`;
    expect(falseAlerts(world, runs), about).to.deep.equal([]);
    expect(missedAlerts(world, runs, outages, lost), about).to.deep.equal([]);
    expect(doubled(world), about).to.deep.equal([]);
    expect(world.crashes, 'ticks that died').to.be.greaterThan(0);
    expect(lost.size, 'events that were lost').to.be.greaterThan(0);
  });
});

/** Plays the week. Resolves with the executions of which an event was rejected for good. */
async function live(world: WeekWorld, random: Random, runs: readonly TrueRun[]): Promise<Set<string>> {
  const sent = runs.flatMap((run) => sentOf(run, random.chance(0.5))).sort((a, b) => a.at - b.at);
  const lost = new Set<string>();
  let nextTick = begin;
  for (let now = begin; now < end; now += stepMs) {
    while ((sent[0]?.at ?? Infinity) <= now) {
      const [event] = sent.splice(0, 1);
      if (event === undefined || world.send(event)) continue;
      if (!event.retries) lost.add(event.executionId);
      else insert(sent, { ...event, at: now + random.int(1, 4) * 30_000 });
    }
    world.note(now);
    await world.work(now);
    if (now < nextTick) continue;
    await world.tick(now);
    nextTick = now + random.int(1, 16) * stepMs;
  }
  for (let now = end; now < end + 5 * minuteMs; now += stepMs) {
    world.note(now);
    await world.work(now);
    await world.tick(now);
  }
  return lost;
}

function insert(sent: Sent[], event: Sent): void {
  const index = sent.findIndex(({ at }) => at > event.at);
  sent.splice(index === -1 ? sent.length : index, 0, event);
}

/** Alerts about what was truly well. */
function falseAlerts({ told }: WeekWorld, runs: readonly TrueRun[]): string[] {
  const opened = told.filter(({ change }) => change === 'opened').map(({ alert }) => alert);
  const wrong = opened.filter(({ automationId, kind, occurrence }) => {
    const own = runs.filter((run) => run.automationId === automationId);
    if (kind === 'missing' || kind === 'late') {
      const run = own.find(({ expectedAt }) => expectedAt === Date.parse(occurrence));
      return run === undefined || (run.startsAt !== undefined && run.startsAt <= run.expectedAt + graceMs);
    }
    if (kind === 'failing') return false;
    const run = own.find(({ executionId }) => executionId === occurrence);
    return run?.startsAt === undefined || run.endsAt - run.startsAt <= maxDurationMs;
  });
  return wrong.map(({ kind, occurrence, openedAt }) => `${kind} ${occurrence} ${new Date(openedAt).toISOString()}`);
}

/** What was truly not well, could be known, and was not told. */
function missedAlerts(
  { told, started }: WeekWorld,
  runs: readonly TrueRun[],
  outages: readonly Outage[],
  lost: ReadonlySet<string>,
): string[] {
  const alerts = told.filter(({ change }) => change === 'opened').map(({ alert }) => alert);
  const provable = (from: number, until: number): boolean =>
    !outages.some(({ part, ...outage }) => {
      // A step of Redis' clock looks like a silence of ingest.
      const hides = part === 'ingest' || part === 'redis' || part === 'redis clock';
      // A window begins earlier, since clocks may be wrong, and the clock of Redis may be.
      return hides && outage.from <= until + 2 * slackMs && outage.until >= from - 2 * slackMs;
    });
  const over = runs.filter(({ expectedAt }) => expectedAt < end - 120 * minuteMs);
  return over.flatMap((run) => {
    const { automationId, executionId, expectedAt, startsAt, endsAt, failed } = run;
    const own = alerts.filter((alert) => alert.automationId === automationId);
    const isTold = (kind: string, occurrence: string) =>
      own.some((alert) => alert.kind === kind && alert.occurrence === occurrence);
    const occurrence = new Date(expectedAt).toISOString();
    const deadline = expectedAt + graceMs;
    const isMissing = startsAt === undefined || startsAt > deadline;
    // One alert covers all expected times until a START is recorded; a lost one ends nothing.
    const starts = started.filter((each) => each.automationId === automationId);
    const isCovered = own.some(({ kind, openedAt }) => {
      const covers = starts.every(({ at }) => at < openedAt - slackMs || at > deadline - slackMs);
      return kind === 'missing' && openedAt <= deadline && covers;
    });
    // A START that was sent again long after a 503 may be nearer to the next expected time.
    const nearest = started.some(({ automationId: of, at }) => {
      const before = runs.findLast((each) => each.automationId === automationId && each.expectedAt < expectedAt);
      const middle = (expectedAt + (before?.expectedAt ?? -Infinity)) / 2;
      return of === automationId && at >= middle - slackMs && at <= deadline;
    });
    const missed: string[] = [];
    const isKnown = isTold('missing', occurrence) || isTold('late', occurrence) || isCovered || nearest;
    if (isMissing && provable(expectedAt, deadline) && !isKnown) missed.push(`missing ${occurrence}`);
    if (startsAt === undefined || lost.has(executionId)) return missed;
    const isLong = endsAt - startsAt > maxDurationMs && provable(startsAt, endsAt);
    if (isLong && !isTold('overrunning', executionId)) missed.push(`overrunning ${executionId}`);
    const failings = told.filter(({ alert }) => alert.automationId === automationId && alert.kind === 'failing');
    const isFailing = failings.some(({ alert }) => alert.openedAt <= endsAt + slackMs * 2);
    if (failed && provable(startsAt, endsAt) && !isFailing) missed.push(`failing ${executionId}`);
    return missed;
  });
}

/** Transitions that receivers were told more than once. */
function doubled({ told }: WeekWorld): string[] {
  const keys = told.map(({ change, alert: { automationId, kind, occurrence, id } }) =>
    change === 'opened' && kind !== 'failing' ? `${change} ${automationId} ${kind} ${occurrence}` : `${change} ${id}`,
  );
  return keys.filter((key, index) => keys.indexOf(key) !== index);
}
