import { expect } from 'chai';
import { evaluate } from '../../../internal/expectation/evaluate.ts';
import { expectationOf } from '../../../internal/expectation/read-expectation.ts';
import { at, evaluated, run, schedules, since, told, type Story } from '../../support/stories.ts';

const nightly = { schedule: '30 2 * * *', grace: '10m' };

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
      title: 'unknown, if the end may have been sent in a gap and again after it',
      story: { expect: quick, runs: ['a 01:00 01:50'], at: '02:00', gaps: [{ from: at('01:30'), until: at('01:49') }] },
      is: ['unknown 01:45–01:50'],
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

  it('lasts until the run ends, however long that takes', () => {
    const history = { declaredAt: since(0), gaps: [], hasOlderRuns: false, runs: [run('a 01:00')] };
    const later = evaluate(expectationOf(quick, { silent: true }), history, at('01:45') + 25 * 3_600_000, schedules);
    expect(later.verdicts.map(({ kind }) => kind)).to.deep.equal(['overrunning']);
  });

  it('does not end with an ERROR: the run may hang after it', () => {
    const story = { expect: quick, runs: ['a 01:00 error 01:10'], at: '02:00' };
    expect(told(story)).to.deep.equal(['= overrunning 01:45–']);
    expect(evaluated(story).verdicts[0]?.reason).to.equal(
      'The run a, which started at 25 November 2026, 01:00 (UTC), takes longer than 45 min, failed at 25 November 2026, 01:10 (UTC), and has sent no END.',
    );
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
      title: 'consecutive, without those that still run',
      story: {
        expect: { failures: { consecutive: 2 } },
        runs: ['a 01:00 failed 01:50', 'b 01:10', 'c 01:20 failed 01:30'],
        at: '02:00',
      },
      is: ['= failing 01:50–'],
    },
    {
      title: 'in the order of ends: a run that started before a success may fail after it',
      story: {
        expect: { failures: { consecutive: 1 } },
        runs: ['a 01:00 failed 01:50', 'b 01:10 01:20'],
        at: '02:00',
      },
      is: ['= failing 01:50–'],
    },
    {
      title: 'over with a success of a run that started before the failure',
      story: {
        expect: { failures: { consecutive: 1 } },
        runs: ['a 01:00 01:50', 'b 01:10 failed 01:20'],
        at: '02:00',
      },
      is: ['failing 01:20–01:50'],
    },
    {
      title: 'again, if an ERROR comes after the END',
      story: {
        expect: { failures: { consecutive: 1 } },
        runs: ['a 01:00 failed 01:10', 'b 01:20 01:30 01:40'],
        at: '02:00',
      },
      is: ['= failing 01:10–01:30', '= failing 01:40–'],
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
        facts: { failed: 2, execution: 'b', failed_at: '2026-11-25T02:05:00.000Z' },
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
