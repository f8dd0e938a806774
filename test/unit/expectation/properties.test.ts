import { expect } from 'chai';
import * as fc from 'fast-check';
import type { DeclaredExpectation } from '../../../internal/expectation/automation.ts';
import { evaluate, type Evaluation } from '../../../internal/expectation/evaluate.ts';
import type { Gap, Run } from '../../../internal/expectation/history.ts';
import { expectationOf } from '../../../internal/expectation/read-expectation.ts';
import { readDuration } from '../../../internal/expectation/duration.ts';
import { changedRules } from '../../../internal/expectation/rules.ts';
import { Schedules } from '../../../internal/expectation/schedules.ts';
import { since } from '../../support/stories.ts';

/** The night in which Madrid repeats an hour. */
const begin = Date.parse('2026-10-24T20:00:00Z');
const hourMs = 3_600_000;
const spanMs = 12 * hourMs;

const time = fc.integer({ min: 0, max: spanMs / 60_000 }).map((minutes) => begin + minutes * 60_000);

const declared: fc.Arbitrary<DeclaredExpectation> = fc.record(
  {
    schedule: fc.constantFrom('*/30 * * * *', '30 2 * * *', '15 1,2,3 * * *', '0 * * * *'),
    timeZone: fc.constantFrom('Europe/Madrid', 'UTC', 'Australia/Lord_Howe'),
    grace: fc.constantFrom('0s', '5m', '20m', '40m'),
    maxDuration: fc.constantFrom('1m', '30m', '3h'),
    failures: fc.constantFrom<NonNullable<DeclaredExpectation['failures']>>(
      { consecutive: 2 },
      { count: 2, within: '1h' },
      { rate: 50, of: 4 },
    ),
  },
  { requiredKeys: ['schedule'] },
);
const interval = fc.constantFrom<DeclaredExpectation>({ every: '1h', grace: '5m' }, { every: '20m', grace: '0s' });

const runs: fc.Arbitrary<Run[]> = fc
  .array(
    fc.record({
      startedAt: time,
      lasts: fc.option(fc.integer({ min: 0, max: 300 })),
      failed: fc.boolean(),
      hangs: fc.boolean(),
    }),
    {
      maxLength: 25,
    },
  )
  .map((drawn) =>
    drawn.map(({ startedAt, lasts, failed, hangs }, index) => ({
      executionId: `run ${index}`,
      startedAt,
      endedAt: lasts === null || hangs ? undefined : startedAt + lasts * 60_000,
      failedAt: lasts === null || !failed ? undefined : startedAt + Math.floor(lasts / 2) * 60_000,
      lastEventAt: startedAt + (lasts ?? 0) * 60_000,
    })),
  );

const gaps: fc.Arbitrary<Gap[]> = fc.array(
  fc.record({ from: time, lasts: fc.integer({ min: 0, max: 90 }) }).map(({ from, lasts }) => ({
    from,
    until: from + lasts * 60_000,
  })),
  { maxLength: 3 },
);

const story = fc.record({ declared: fc.oneof(declared, interval), runs, gaps, watermark: time });
type Story = typeof story extends fc.Arbitrary<infer T> ? T : never;

function evaluated(
  { declared: expectation, runs: history, gaps: known }: Story,
  watermark: number,
  schedules = new Schedules(),
): Evaluation {
  const complete = { declaredAt: since(begin), runs: history, gaps: known, hasOlderRuns: false };
  return evaluate(expectationOf(expectation, { silent: true }), complete, watermark, schedules);
}

/** What is known at a watermark: runs and gaps that have begun, and ends that have come. */
function knownAt(given: Story, watermark: number): Story {
  const started = given.runs.filter(({ startedAt }) => startedAt <= watermark);
  const known = started.map((run) => {
    const known = (time: number | undefined) => (time !== undefined && time <= watermark ? time : undefined);
    return { ...run, failedAt: known(run.failedAt), endedAt: known(run.endedAt) };
  });
  return { ...given, runs: known, gaps: given.gaps.filter(({ from }) => from <= watermark) };
}

const checked = { numRuns: 300 };

describe('a verdict', () => {
  it('does not depend on the order of runs and gaps', () => {
    const shuffled = story.chain((given) =>
      fc.record({
        given: fc.constant(given),
        runs: fc.shuffledSubarray(given.runs, { minLength: given.runs.length }),
        gaps: fc.shuffledSubarray(given.gaps, { minLength: given.gaps.length }),
      }),
    );
    fc.assert(
      fc.property(shuffled, ({ given, ...other }) => {
        const { watermark } = given;
        expect(evaluated({ ...given, ...other }, watermark)).to.deep.equal(evaluated(given, watermark));
      }),
      checked,
    );
  });

  it('does not depend on earlier evaluations', () => {
    fc.assert(
      fc.property(story, fc.array(time, { maxLength: 10 }), (given, earlier) => {
        const used = new Schedules();
        for (const watermark of earlier) evaluated(given, watermark, used);
        expect(evaluated(given, given.watermark, used)).to.deep.equal(evaluated(given, given.watermark));
      }),
      checked,
    );
  });

  it('does not change before the time that the evaluation before has named, unless events or gaps come', () => {
    fc.assert(
      fc.property(story, time, (given, later) => {
        const known = knownAt(given, given.watermark);
        const { nextAt, verdicts } = evaluated(known, given.watermark);
        const until = Math.max(given.watermark, Math.min(later, nextAt - 1));
        expect(evaluated(known, until).verdicts).to.deep.equal(verdicts);
      }),
      checked,
    );
  });

  it('of the past never changes: each finding that is over stays as it was', () => {
    fc.assert(
      fc.property(story, time, (given, later) => {
        const watermark = Math.max(given.watermark, later);
        const over = evaluated(knownAt(given, given.watermark), given.watermark).findings.filter(
          ({ kind, until }) => kind !== 'unknown' && until !== undefined && until <= given.watermark,
        );
        const keys = evaluated(knownAt(given, watermark), watermark).findings.map(key);
        expect(keys).to.include.members(over.map(key));
      }),
      checked,
    );
  });

  it('says in one sentence why, and one of its end, with the facts that it rests on', () => {
    fc.assert(
      fc.property(story, (given) => {
        for (const { kind, reason, facts, until, resolvedReason } of evaluated(given, given.watermark).findings) {
          const hasEnd = until !== undefined && kind !== 'unknown';
          for (const sentence of [reason, ...(hasEnd ? [resolvedReason] : [])]) {
            expect(sentence).to.match(/^[A-Z\d][^.\n]*\.$/);
          }
          expect(facts).to.have.any.keys('expected_at', 'execution');
          const times = Object.entries(facts).filter(([name]) => /_(?:at|from|until)$/.test(name));
          for (const [, text] of times) expect(new Date(text).toISOString()).to.equal(text);
        }
      }),
      checked,
    );
  });

  it('is never missing where a run started in time, nor in a gap', () => {
    fc.assert(
      fc.property(story, (given) => {
        for (const { kind, occurrence, from } of evaluated(given, given.watermark).findings) {
          if (kind !== 'missing') continue;
          const expected = Date.parse(occurrence);
          expect(given.runs.filter(({ startedAt }) => startedAt >= expected && startedAt <= from)).to.deep.equal([]);
          expect(given.gaps.filter((gap) => gap.from <= from && gap.until >= expected)).to.deep.equal([]);
        }
      }),
      checked,
    );
  });
});

describe('verdicts and people', () => {
  it('stay as they are through an edit that changes no meaning', () => {
    const sameMeaning = ({ maxDuration, schedule, every, ...rest }: DeclaredExpectation): DeclaredExpectation => ({
      ...rest,
      ...(maxDuration !== undefined && { maxDuration: `${(readDuration(maxDuration) ?? 0) / 1_000}s` }),
      ...(every !== undefined && { every: `${(readDuration(every) ?? 0) / 1_000}s` }),
      ...(schedule !== undefined && { schedule: ` ${schedule.replace('*/30', '0,30').replace('1,2,3', '1-3')}` }),
    });
    fc.assert(
      fc.property(story, ({ declared: before, ...given }) => {
        const after = sameMeaning(before);
        const rules = changedRules(before, undefined, begin);
        expect(changedRules(after, rules, given.watermark)).to.deep.equal(rules);
        const edited = { ...given, declared: after };
        expect(evaluated(edited, given.watermark)).to.deep.equal(
          evaluated({ ...given, declared: before }, given.watermark),
        );
      }),
      checked,
    );
  });

  it('keep each alert that still holds, whatever is edited', () => {
    fc.assert(
      fc.property(story, fc.oneof(declared, interval), ({ declared: before, ...given }, after) => {
        const { watermark, runs: history, gaps: known } = given;
        const first = evaluated({ ...given, declared: before }, watermark);
        const told = first.verdicts.map(({ kind, occurrence, since: openedAt }) => {
          return { kind, occurrence, openedAt: Date.parse(openedAt) };
        });
        const verdictsOf = (declaredAt: number, open = told) => {
          const complete = {
            declaredAt: since(declaredAt),
            runs: history,
            gaps: known,
            hasOlderRuns: false,
            told: open,
          };
          return evaluate(expectationOf(after, { silent: true }), complete, watermark, new Schedules()).verdicts;
        };
        // Declared long ago, the new rules would say the same of these runs.
        const always = verdictsOf(begin, []).filter(({ kind }) => kind === 'overrunning' || kind === 'failing');
        for (const { kind, occurrence } of always) {
          if (!told.some((alert) => alert.kind === kind && alert.occurrence === occurrence)) continue;
          expect(verdictsOf(watermark).map((one) => `${one.kind} ${one.occurrence}`)).to.include(
            `${kind} ${occurrence}`,
          );
        }
      }),
      checked,
    );
  });

  it('of failures do not depend on runs without an outcome', () => {
    fc.assert(
      fc.property(story, runs, (given, more) => {
        const unfinished = more.map((run, index) => ({
          ...run,
          executionId: `unfinished ${index}`,
          failedAt: undefined,
          endedAt: undefined,
        }));
        const failures = ({ findings }: Evaluation) => findings.filter(({ kind }) => kind === 'failing');
        const both = { ...given, runs: [...given.runs, ...unfinished] };
        expect(failures(evaluated(both, given.watermark))).to.deep.equal(failures(evaluated(given, given.watermark)));
      }),
      checked,
    );
  });

  it('of starts do not depend on Jobs made by hand', () => {
    fc.assert(
      fc.property(story, runs, (given, more) => {
        const byHand = more.map((run, index) => ({
          ...run,
          executionId: `by hand ${index}`,
          scheduledFor: 'byHand' as const,
        }));
        const starts = ({ findings }: Evaluation) =>
          findings.filter(({ kind, facts }) => ['missing', 'late', 'unknown'].includes(kind) && 'expected_at' in facts);
        const both = { ...given, runs: [...given.runs, ...byHand] };
        expect(starts(evaluated(both, given.watermark))).to.deep.equal(starts(evaluated(given, given.watermark)));
      }),
      checked,
    );
  });

  it('count a run in between, outside of the lead, for no later time', () => {
    const hourly = { schedule: '0 * * * *', grace: '5m' };
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 54 }), (minute) => {
        const start = begin + minute * 60_000;
        const run = { executionId: 'a', startedAt: start, failedAt: undefined, endedAt: undefined, lastEventAt: start };
        const given = { declared: hourly, runs: [run], gaps: [], watermark: begin };
        const missing = evaluated(given, begin + hourMs + 300_000).verdicts.map(({ kind }) => kind);
        expect(missing).to.include('missing');
      }),
    );
  });
});

function key({ kind, occurrence, from, until }: Evaluation['findings'][number]): string {
  return `${kind} ${occurrence} ${from} ${until}`;
}
