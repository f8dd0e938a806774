import { expect } from 'chai';
import * as fc from 'fast-check';
import type { DeclaredExpectation } from '../../../internal/expectation/automation.ts';
import { evaluate, type Evaluation } from '../../../internal/expectation/evaluate.ts';
import type { Gap, Run } from '../../../internal/expectation/history.ts';
import { expectationOf } from '../../../internal/expectation/read-expectation.ts';
import { Schedules } from '../../../internal/expectation/schedules.ts';

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
  .array(fc.record({ startedAt: time, lasts: fc.option(fc.integer({ min: 0, max: 300 })), failed: fc.boolean() }), {
    maxLength: 25,
  })
  .map((drawn) =>
    drawn.map(({ startedAt, lasts, failed }, index) => ({
      executionId: `run ${index}`,
      startedAt,
      finishedAt: lasts === null ? undefined : startedAt + lasts * 60_000,
      failed: lasts !== null && failed,
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
  const complete = { declaredAt: begin, runs: history, gaps: known, hasOlderRuns: false };
  return evaluate(expectationOf(expectation), complete, watermark, schedules);
}

/** What is known at a watermark: runs that have started, and ends that have come. */
function knownAt(given: Story, watermark: number): Story {
  const started = given.runs.filter(({ startedAt }) => startedAt <= watermark);
  const known = started.map((run) => {
    const hasEnded = run.finishedAt !== undefined && run.finishedAt <= watermark;
    return hasEnded ? run : { ...run, finishedAt: undefined, failed: false };
  });
  return { ...given, runs: known };
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

  it('does not change before the time that the evaluation before has named, unless events come', () => {
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

function key({ kind, occurrence, from, until }: Evaluation['findings'][number]): string {
  return `${kind} ${occurrence} ${from} ${until}`;
}
