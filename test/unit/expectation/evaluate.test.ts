import { expect } from 'chai';
import { evaluate, type Evaluation } from '../../../internal/expectation/evaluate.ts';
import type { History } from '../../../internal/expectation/history.ts';
import { expectationOf } from '../../../internal/expectation/read-expectation.ts';
import { Schedules } from '../../../internal/expectation/schedules.ts';

const schedules = new Schedules();

/** A time of 25 November 2026, UTC. */
function at(time: string): number {
  return Date.parse(`2026-11-25T${time}Z`);
}

/** `a 02:31 02:50`, `b 02:31 failed 02:40`, `c 02:31` for one that runs. */
function run(text: string) {
  const [executionId = '', start = '', end, failedAt] = text.split(' ');
  const failed = end === 'failed';
  const finish = failed ? failedAt : end;
  return { executionId, startedAt: at(start), finishedAt: finish === undefined ? undefined : at(finish), failed };
}

interface Story extends Partial<Omit<History, 'runs'>> {
  expect: object;
  runs?: string[];
  at: string;
}

function evaluated({ expect: declared, runs = [], at: watermark, ...history }: Story): Evaluation {
  const known = { declaredAt: at('00:00'), gaps: [], hasOlderRuns: false, ...history, runs: runs.map(run) };
  return evaluate(expectationOf(declared), known, at(watermark), schedules);
}

/** `missing 02:40–` for each finding, and `=` before those that hold. */
function told(story: Story): string[] {
  const { findings, verdicts } = evaluated(story);
  const time = (ms: number | undefined) => (ms === undefined ? '' : new Date(ms).toISOString().slice(11, 16));
  return findings.map(({ kind, from, until, occurrence }) => {
    const holds = verdicts.some((verdict) => verdict.kind === kind && verdict.occurrence === occurrence);
    return `${holds ? '= ' : ''}${kind} ${time(from)}–${time(until)}`;
  });
}

const nightly = { schedule: '30 2 * * *', grace: '10m' };
const often = { schedule: '0 * * * *', grace: '10m' };

describe('a verdict on starts', () => {
  for (const { title, story, is } of [
    { title: 'none before the grace has passed', story: { expect: nightly, at: '02:39' }, is: [] },
    { title: 'missing from the end of the grace', story: { expect: nightly, at: '02:40' }, is: ['= missing 02:40–'] },
    { title: 'none for a start in time', story: { expect: nightly, runs: ['a 02:40'], at: '03:00' }, is: [] },
    {
      title: 'none for a start before its time',
      story: { expect: often, runs: ['a 01:31'], at: '02:20', declaredAt: at('01:30') },
      is: [],
    },
    {
      title: 'missing, if the start counts for the time before',
      story: { expect: often, runs: ['a 01:29'], at: '02:20', declaredAt: at('01:05') },
      is: ['= missing 02:10–'],
    },
    {
      title: 'late for a start after the grace',
      story: { expect: nightly, runs: ['a 02:45'], at: '03:00' },
      is: ['= late 02:45–02:45'],
    },
    {
      title: 'late until the next run starts',
      story: { expect: often, runs: ['a 01:15', 'b 02:00'], at: '02:05', declaredAt: at('00:30') },
      is: ['late 01:15–01:15'],
    },
    {
      title: 'missing over, if the next start counts for the next time',
      story: { expect: often, runs: ['a 02:01'], at: '02:05', declaredAt: at('00:30') },
      is: ['missing 01:10–02:01'],
    },
    {
      title: 'one missing, however many times pass without a run',
      story: { expect: often, runs: ['a 01:00'], at: '09:00', declaredAt: at('00:30') },
      is: ['= missing 02:10–'],
    },
    {
      title: 'not missing, if a run has started after the watermark',
      story: { expect: nightly, runs: ['a 02:50'], at: '02:45' },
      is: ['late 02:50–02:50'],
    },
    {
      title: 'none for times before the declaration',
      story: { expect: nightly, at: '03:00', declaredAt: at('02:31') },
      is: [],
    },
    {
      title: 'unknown in a gap of the record',
      story: { expect: nightly, at: '03:00', gaps: [{ from: at('02:38'), until: at('02:39') }] },
      is: ['= unknown 02:40–'],
    },
    {
      title: 'unknown, if the gap ends just before the expected time, since clocks differ',
      story: { expect: nightly, at: '03:00', gaps: [{ from: at('02:00'), until: at('02:26') }] },
      is: ['= unknown 02:40–'],
    },
    {
      title: 'missing, if the gap is elsewhere',
      story: { expect: nightly, at: '03:00', gaps: [{ from: at('02:41'), until: at('02:50') }] },
      is: ['= missing 02:40–'],
    },
    {
      title: 'unknown, then missing at the first time that is provable again',
      story: { expect: often, at: '04:00', declaredAt: at('00:30'), gaps: [{ from: at('00:50'), until: at('01:58') }] },
      is: ['unknown 01:10–03:10', '= missing 03:10–'],
    },
    {
      title: 'none in a gap in which a run started in time',
      story: { expect: nightly, runs: ['a 02:35'], at: '03:00', gaps: [{ from: at('02:36'), until: at('02:50') }] },
      is: [],
    },
    {
      title: 'none for an interval that has not passed',
      story: { expect: { every: '1h', grace: '5m' }, runs: ['a 01:00'], at: '02:04', declaredAt: at('00:30') },
      is: [],
    },
    {
      title: 'missing after an interval and its grace',
      story: { expect: { every: '1h', grace: '5m' }, runs: ['a 01:00'], at: '02:05', declaredAt: at('00:30') },
      is: ['= missing 02:05–'],
    },
    {
      title: 'late, if the next start comes after an interval and its grace',
      story: {
        expect: { every: '1h', grace: '5m' },
        runs: ['a 01:00', 'b 04:00'],
        at: '04:30',
        declaredAt: at('00:30'),
      },
      is: ['= late 04:00–04:00'],
    },
    {
      title: 'missing without any run',
      story: { expect: { every: '1h', grace: '5m' }, at: '01:35', declaredAt: at('00:30') },
      is: ['= missing 01:35–'],
    },
    {
      title: 'unknown in an interval with a gap, then missing',
      story: { expect: { every: '1h', grace: '5m' }, at: '03:00', gaps: [{ from: at('00:40'), until: at('00:50') }] },
      is: ['unknown 01:05–01:55', '= missing 01:55–'],
    },
  ] satisfies { title: string; story: Story; is: string[] }[]) {
    it(title, () => {
      expect(told(story)).to.deep.equal(is);
    });
  }

  it('says what was expected, in the time zone of the schedule', () => {
    const madrid = { schedule: '30 * * * *', grace: '10m', timeZone: 'Europe/Madrid' };
    const { verdicts } = evaluated({ expect: madrid, runs: ['a 00:31'], at: '01:40', declaredAt: at('00:05') });
    expect(verdicts).to.deep.equal([
      {
        kind: 'missing',
        occurrence: '2026-11-25T01:30:00.000Z',
        reason: 'No run started within 10 min of the expected time, 25 November 2026, 02:30 (Europe/Madrid).',
        facts: {
          expectedAt: '2026-11-25T01:30:00.000Z',
          graceSeconds: 600,
          lastExecution: 'a',
          lastStartedAt: '2026-11-25T00:31:00.000Z',
        },
        since: '2026-11-25T01:40:00.000Z',
      },
    ]);
  });
});

describe('a verdict on durations', () => {
  const quick = { maxDuration: '45m' };
  for (const { title, story, is } of [
    { title: 'none in time', story: { expect: quick, runs: ['a 01:00'], at: '01:44' }, is: [] },
    {
      title: 'overrunning after it',
      story: { expect: quick, runs: ['a 01:00'], at: '01:45' },
      is: ['= overrunning 01:45–'],
    },
    {
      title: 'each of several runs at once',
      story: { expect: quick, runs: ['a 01:00', 'b 01:10 01:20', 'c 01:15'], at: '02:30' },
      is: ['= overrunning 01:45–', '= overrunning 02:00–'],
    },
    {
      title: 'over with the end',
      story: { expect: quick, runs: ['a 01:00 01:50'], at: '02:00' },
      is: ['overrunning 01:45–01:50'],
    },
    {
      title: 'over with a failure',
      story: { expect: quick, runs: ['a 01:00 failed 01:50'], at: '02:00' },
      is: ['overrunning 01:45–01:50'],
    },
    {
      title: 'none for runs before the declaration',
      story: { expect: quick, runs: ['a 01:00'], at: '02:00', declaredAt: at('01:01') },
      is: [],
    },
    {
      title: 'unknown, if the end may be in a gap',
      story: { expect: quick, runs: ['a 01:00'], at: '02:00', gaps: [{ from: at('01:20'), until: at('01:21') }] },
      is: ['= unknown 01:45–'],
    },
    {
      title: 'still overrunning, if the gap came later',
      story: { expect: quick, runs: ['a 01:00'], at: '03:00', gaps: [{ from: at('02:20'), until: at('02:21') }] },
      is: ['= overrunning 01:45–'],
    },
  ] satisfies { title: string; story: Story; is: string[] }[]) {
    it(title, () => {
      expect(told(story)).to.deep.equal(is);
    });
  }

  it('ends a day later, when the run counts as abandoned', () => {
    const story = { expect: quick, runs: ['a 01:00'], at: '01:45', declaredAt: 0 };
    const history = { declaredAt: 0, gaps: [], hasOlderRuns: false, runs: [run('a 01:00')] };
    const later = evaluate(expectationOf(quick), history, at('01:45') + 86_400_000, schedules);
    expect(evaluated(story).nextAt).to.equal(at('01:45') + 86_400_000);
    expect(later.verdicts).to.deep.equal([]);
    expect(later.findings[0]?.resolvedReason).to.equal('It had not ended a day later, and counts as abandoned.');
  });
});

describe('a verdict on failures', () => {
  for (const { title, story, is } of [
    {
      title: 'consecutive',
      story: {
        expect: { failures: { consecutive: 2 } },
        runs: ['a 01:00 failed 01:05', 'b 02:00 failed 02:05'],
        at: '03:00',
      },
      is: ['= failing 02:05–'],
    },
    {
      title: 'not with a success between',
      story: {
        expect: { failures: { consecutive: 2 } },
        runs: ['a 01:00 failed 01:05', 'b 02:00 02:05', 'c 03:00 failed 03:05'],
        at: '04:00',
      },
      is: [],
    },
    {
      title: 'consecutive in the order of starts, without those that still run',
      story: {
        expect: { failures: { consecutive: 2 } },
        runs: ['a 01:00 failed 01:50', 'b 01:10', 'c 01:20 failed 01:30'],
        at: '02:00',
      },
      is: ['= failing 01:50–'],
    },
    {
      title: 'over with a success',
      story: { expect: { failures: { consecutive: 1 } }, runs: ['a 01:00 failed 01:05', 'b 02:00 02:05'], at: '03:00' },
      is: ['failing 01:05–02:05'],
    },
    {
      title: 'so many within a time, until that has passed',
      story: {
        expect: { failures: { count: 2, within: '1h' } },
        runs: ['a 01:00 failed 01:05', 'b 01:20 01:25', 'c 01:30 failed 01:35'],
        at: '03:00',
      },
      is: ['failing 01:35–02:05'],
    },
    {
      title: 'a rate of the last runs, also before there are so many',
      story: {
        expect: { failures: { rate: 50, of: 4 } },
        runs: ['a 01:00 failed 01:05', 'b 01:10 01:15', 'c 01:20 failed 01:25'],
        at: '02:00',
      },
      is: ['= failing 01:25–'],
    },
    {
      title: 'a rate, over when older runs no longer count',
      story: {
        expect: { failures: { rate: 50, of: 2 } },
        runs: ['a 01:00 failed 01:05', 'b 01:10 01:15', 'c 01:20 01:25'],
        at: '02:00',
      },
      is: ['failing 01:05–01:25'],
    },
    {
      title: 'none for runs before the declaration',
      story: {
        expect: { failures: { consecutive: 1 } },
        runs: ['a 01:00 failed 01:05'],
        at: '02:00',
        declaredAt: at('01:01'),
      },
      is: [],
    },
  ] satisfies { title: string; story: Story; is: string[] }[]) {
    it(title, () => {
      expect(told(story)).to.deep.equal(is);
    });
  }

  it('names the runs', () => {
    const failures = { consecutive: 2 };
    const story = { expect: { failures }, runs: ['a 01:00 failed 01:05', 'b 02:00 failed 02:05'], at: '03:00' };
    expect(evaluated(story).verdicts.map(({ reason, facts }) => ({ reason, facts }))).to.deep.equal([
      {
        reason: 'The last 2 runs failed, the latest of them: b at 25 November 2026, 02:05 (UTC).',
        facts: { failed: 2, execution: 'b', failedAt: '2026-11-25T02:05:00.000Z' },
      },
    ]);
  });
});

describe('the next evaluation', () => {
  for (const { title, story, next } of [
    { title: 'is at the end of the grace', story: { expect: nightly, at: '01:00' }, next: '02:40' },
    {
      title: 'is when a run takes too long',
      story: { expect: { ...nightly, maxDuration: '45m' }, runs: ['a 02:30'], at: '02:35' },
      next: '03:15',
    },
    {
      title: 'is when a failure no longer counts',
      story: { expect: { failures: { count: 1, within: '1h' } }, runs: ['a 01:00 failed 01:05'], at: '01:30' },
      next: '02:05',
    },
    {
      title: 'is when the watermark passes a start that is known',
      story: { expect: nightly, runs: ['a 02:50'], at: '02:45' },
      next: '02:50',
    },
  ] satisfies { title: string; story: Story; next: string }[]) {
    it(title, () => {
      expect(new Date(evaluated(story).nextAt).toISOString()).to.equal(`2026-11-25T${next}:00.000Z`);
    });
  }
});
