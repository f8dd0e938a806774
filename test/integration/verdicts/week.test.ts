import { expect } from 'chai';
import type { DeclaredExpectation } from '../../../internal/expectation/automation.ts';
import type { Database } from '../../../internal/store/database.ts';
import { declare } from '../../support/expectations.ts';
import { Random, seedOfRun } from '../../support/fault/random.ts';
import { eachDatabase } from '../../support/store.ts';
import { differences, type Declarations, type Week } from '../../support/week/compare.ts';
import { planOutages } from '../../support/week/outages.ts';
import type { RecordedRun, Span } from '../../support/week/owner.ts';
import { graceMs, maxDurationMs, planRuns, type Planned, type TrueRun } from '../../support/week/runs.ts';
import { WeekWorld, type Sent } from '../../support/week/world.ts';

const minuteMs = 60_000;
const stepMs = 15_000;

/** DAYS=7 is the whole: each run draws other days of that kind. */
const days = Number(process.env['DAYS'] ?? 3);

/** With a change of daylight saving on the second day. */
const begin = Date.parse('2026-10-24T00:00:00Z');
const end = begin + days * 24 * 60 * minuteMs;

/** Between two expected times. */
const declaredAt = begin + 20 * minuteMs;

const range = (from: number, to: number, step = 1): number[] =>
  Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, index) => from + index * step);
const always = { declaredAt, graceMs, weekdays: range(0, 6), hours: range(0, 23), everyHour: true };

/** Each schedule as text, and as an owner reads it. */
const automations: (Planned & { schedule: string })[] = [
  { ...always, schedule: '0 * * * *', timeZone: 'UTC', minutes: [0] },
  { ...always, schedule: '30 * * * *', timeZone: 'Europe/Madrid', minutes: [30] },
  { ...always, schedule: '10 */2 * * *', timeZone: 'America/New_York', minutes: [10], hours: range(0, 22, 2) },
  { ...always, schedule: '30 2 * * *', timeZone: 'Europe/Madrid', minutes: [30], hours: [2], everyHour: false },
  {
    ...always,
    schedule: '45 1-23/3 * * 1-5',
    timeZone: 'Australia/Lord_Howe',
    minutes: [45],
    hours: range(1, 22, 3),
    weekdays: range(1, 5),
    everyHour: false,
  },
].map((starts, index) => ({ ...starts, automationId: `0190a0b0-0000-7000-8000-0000000000${index + 10}` }));

function sentOf({ automationId, executionId, startsAt, failsAt, endsAt }: TrueRun, retries: boolean): Sent[] {
  const sent = (at: number | undefined, kind: Sent['kind']) =>
    at === undefined ? [] : [{ at, automationId, executionId, kind, retries }];
  return [...sent(startsAt, 'START'), ...sent(failsAt, 'ERROR'), ...sent(endsAt, 'END')];
}

describe('days with outages of each part', () => {
  const database = eachDatabase();

  it('has no false, missed or repeated alert, by the page for owners', async function () {
    this.timeout(600_000);
    const seed = seedOfRun();
    const random = new Random(seed);
    const outages = planOutages(random, begin, end);
    expect(outages.length, 'outages').to.be.at.least((200 * days) / 7);
    const runs = planRuns(random, automations, declaredAt, end);
    const byHand = runs.filter((run) => run.byHand);
    await database.db
      .insertInto('scheduled_runs')
      .values(byHand.map((run) => scheduledRow(run)))
      .execute();
    const world = new WeekWorld(database.db, random, outages);
    const editing = automations.map((automation) => new Editing(database.db, random, automation));
    for (const one of editing) await one.declare(declaredAt);
    await live(world, random, runs, editing);
    const found = await Promise.all(
      editing.map(async (one) => differences(await weekOf(database.db, world, one, byHand))),
    );
    const about = `seed ${seed}`;
    expect(
      found.flatMap(({ wrong }) => wrong),
      about,
    ).to.deep.equal([]);
    expect(
      found.flatMap(({ missed }) => missed),
      about,
    ).to.deep.equal([]);
    expect(doubled(world), about).to.deep.equal([]);
    expect(
      found.reduce((sum, { compared }) => sum + compared, 0),
      'compared',
    ).to.be.greaterThan((50 * days) / 7);
    expect(world.crashes, 'ticks that died').to.be.greaterThan(0);
  });
});

function scheduledRow({ automationId, executionId }: TrueRun) {
  const key = { organization: 'acme', automation_id: automationId, execution_id: executionId };
  return { ...key, scheduled_at: null, recorded_at: new Date(begin) };
}

/** An owner who edits a declaration: sometimes its text, sometimes what a rule means. */
class Editing {
  readonly automation: Planned & { schedule: string };
  readonly declared: Declarations;
  readonly #db: Database;
  readonly #random: Random;
  #expect: DeclaredExpectation;
  #nextAt: number;

  constructor(db: Database, random: Random, automation: Planned & { schedule: string }) {
    this.#db = db;
    this.#random = random;
    this.automation = automation;
    const { schedule, timeZone } = automation;
    this.#expect = { schedule, timeZone, grace: '10m', maxDuration: '30m', failures: { consecutive: 1 } };
    this.declared = {
      starts: [automation],
      limits: [{ since: declaredAt, maxMs: maxDurationMs }],
      failures: [{ since: declaredAt, inARow: 1 }],
    };
    this.#nextAt = declaredAt + random.int(600, 1_800) * minuteMs;
  }

  declare(now: number): Promise<void> {
    return declare(this.#db, { automationId: this.automation.automationId, expect: this.#expect, declaredAt: now });
  }

  async editIfDue(now: number): Promise<void> {
    if (now < this.#nextAt) return;
    this.#nextAt = now + this.#random.int(600, 2_400) * minuteMs;
    const { declared } = this;
    const { maxDuration, schedule = '' } = this.#expect;
    switch (this.#random.pick(['text', 'maxDuration', 'failures', 'starts'])) {
      case 'maxDuration': {
        const maxMs = (declared.limits.at(-1)?.maxMs === maxDurationMs ? 32 : 30) * minuteMs;
        this.#expect = { ...this.#expect, maxDuration: `${maxMs / minuteMs}m` };
        declared.limits.push({ since: now, maxMs });
        break;
      }
      case 'failures': {
        const inARow = declared.failures.at(-1)?.inARow === 1 ? 2 : 1;
        this.#expect = { ...this.#expect, failures: { consecutive: inARow } };
        declared.failures.push({ since: now, inARow });
        break;
      }
      case 'starts': {
        const minutes =
          declared.starts.at(-1)?.minutes.length === 1 ? [...this.automation.minutes, 59] : this.automation.minutes;
        const onlyHour = minutes.length === 1 ? {} : { everyHour: false, hours: [5] };
        // The 59 minutes past five are a time of their own: nobody starts a run then.
        const text = minutes.length === 1 ? this.automation.schedule : `59 5 * * *`;
        this.#expect = { ...this.#expect, schedule: text };
        declared.starts.push({
          ...this.automation,
          ...onlyHour,
          declaredAt: now,
          minutes: minutes.length === 1 ? minutes : [59],
          weekdays: minutes.length === 1 ? this.automation.weekdays : range(0, 6),
        });
        break;
      }
      default: {
        const seconds =
          maxDuration?.endsWith('m') === true
            ? `${Number(maxDuration.slice(0, -1)) * 60}s`
            : `${Number(maxDuration?.slice(0, -1)) / 60}m`;
        this.#expect = {
          ...this.#expect,
          maxDuration: seconds,
          schedule: schedule.startsWith(' ') ? schedule.trim() : ` ${schedule}`,
        };
      }
    }
    await this.declare(now);
  }
}

/** Plays the week. */
async function live(world: WeekWorld, random: Random, runs: readonly TrueRun[], editing: readonly Editing[]) {
  const sent = runs.flatMap((run) => sentOf(run, random.chance(0.5))).sort((a, b) => a.at - b.at);
  let nextTick = begin;
  for (let now = begin; now < end; now += stepMs) {
    while ((sent[0]?.at ?? Infinity) <= now) {
      const [event] = sent.splice(0, 1);
      if (event === undefined || world.send(event) || !event.retries) continue;
      insert(sent, { ...event, at: now + random.int(1, 4) * 30_000 });
    }
    world.note(now);
    await world.work(now);
    for (const one of editing) await one.editIfDue(now);
    if (now < nextTick) continue;
    await world.tick(now);
    nextTick = now + random.int(1, 16) * stepMs;
  }
  for (let now = end; now < end + 5 * minuteMs; now += stepMs) {
    world.note(now);
    await world.work(now);
    await world.tick(now);
  }
}

function insert(sent: Sent[], event: Sent): void {
  const index = sent.findIndex(({ at }) => at > event.at);
  sent.splice(index === -1 ? sent.length : index, 0, event);
}

/** What the record has of an automation, event by event, and what was told about it. */
async function weekOf(db: Database, world: WeekWorld, one: Editing, byHand: readonly TrueRun[]): Promise<Week> {
  const { automationId } = one.automation;
  const events = await db
    .selectFrom('events')
    .select(['execution_id', 'kind', 'created_at'])
    .where('automation_id', '=', automationId)
    .execute();
  const hands = new Set(byHand.map(({ executionId }) => executionId));
  const runs = [...Map.groupBy(events, (event) => event.execution_id)].map(([id, own]): RecordedRun => {
    const first = (kind?: string): number | undefined => {
      const times = own
        .filter((event) => kind === undefined || event.kind === kind)
        .map((event) => event.created_at.getTime());
      return times.length === 0 ? undefined : Math.min(...times);
    };
    return { id, startedAt: first() ?? 0, failedAt: first('ERROR'), endedAt: first('END'), byHand: hands.has(id) };
  });
  const gaps = await db.selectFrom('record_gaps').select(['from_at', 'until_at']).execute();
  const state = await db.selectFrom('controller_state').select('watermark').executeTakeFirstOrThrow();
  return {
    automationId,
    declared: one.declared,
    runs,
    gaps: gaps.map(({ from_at, until_at }): Span => ({ from: from_at.getTime(), until: until_at.getTime() })),
    told: world.told.filter(({ alert }) => alert.automationId === automationId),
    until: state.watermark?.getTime() ?? 0,
  };
}

/** Transitions that receivers were told more than once. */
function doubled({ told }: WeekWorld): string[] {
  const keys = told.map(({ change, alert: { automationId, kind, occurrence, id } }) =>
    change === 'opened' && kind !== 'failing' ? `${change} ${automationId} ${kind} ${occurrence}` : `${change} ${id}`,
  );
  return keys.filter((key, index) => keys.indexOf(key) !== index);
}
