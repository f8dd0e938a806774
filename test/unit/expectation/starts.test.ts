import { expect } from 'chai';
import { at, evaluated, told, type Story } from '../../support/stories.ts';

const nightly = { schedule: '30 2 * * *', grace: '10m' };
const often = { schedule: '0 * * * *', grace: '10m' };

describe('a verdict on starts', () => {
  for (const { title, story, is } of [
    { title: 'none before the grace has passed', story: { expect: nightly, at: '02:39' }, is: [] },
    { title: 'missing from the end of the grace', story: { expect: nightly, at: '02:40' }, is: ['= missing 02:40–'] },
    { title: 'none for a start in time', story: { expect: nightly, runs: ['a 02:40'], at: '03:00' }, is: [] },
    {
      title: 'missing for each time that a frequent schedule leaves out, without a declared grace',
      story: { expect: { schedule: '*/5 * * * *' }, runs: ['a 00:00', 'b 00:10', 'c 00:20'], at: '00:26' },
      is: ['missing 00:07–00:10', 'missing 00:17–00:20'],
    },
    {
      title: 'late after one and a half short intervals, without a declared grace',
      story: { expect: { every: '4m' }, runs: ['a 00:00', 'b 00:08'], at: '00:09' },
      is: ['= late 00:08–00:08'],
    },
    {
      title: 'none for a start five minutes before its time',
      story: { expect: often, runs: ['a 01:55'], at: '02:20', declaredAt: at('01:30') },
      is: [],
    },
    {
      title: 'missing, if the start counts for the time before',
      story: { expect: often, runs: ['a 01:54'], at: '02:20', declaredAt: at('01:05') },
      is: ['= missing 02:10–'],
    },
    {
      title: 'missing, after a run by hand in between, however late that was',
      story: { expect: often, runs: ['a 01:00', 'b 01:50'], at: '02:20', declaredAt: at('00:30') },
      is: ['= missing 02:10–'],
    },
    {
      title: 'none for a start as early as declared',
      story: { expect: { ...often, early: '20m' }, runs: ['a 01:40'], at: '02:20', declaredAt: at('01:30') },
      is: [],
    },
    {
      title: 'missing, for a start earlier than half of the interval',
      story: { expect: { ...often, early: '50m' }, runs: ['a 01:00', 'b 01:29'], at: '02:20', declaredAt: at('00:30') },
      is: ['= missing 02:10–'],
    },
    {
      title: 'missing, if only a Job made by hand started',
      story: { expect: often, runs: ['a@01:00 01:01', 'b! 02:00'], at: '02:20', declaredAt: at('00:30') },
      is: ['= missing 02:10–'],
    },
    {
      title: 'late for a Job that started long after the time of its schedule, and none for later times',
      story: {
        expect: often,
        runs: ['a@01:00 01:01', 'b@03:00 03:01', 'c@02:00 03:05', 'd@04:00 04:00'],
        at: '04:20',
        declaredAt: at('00:30'),
      },
      is: ['missing 02:10–03:01'],
    },
    {
      title: 'late, although the Job of that schedule started when the next time was near',
      story: { expect: often, runs: ['a@01:00 01:01', 'b@02:00 02:58'], at: '02:59', declaredAt: at('00:30') },
      is: ['= late 02:58–02:58'],
    },
    {
      title: 'missing, if an event of a run without START came long before',
      story: { expect: often, runs: ['a? 01:40'], at: '02:20', declaredAt: at('01:05') },
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
    {
      title: 'unknown once, however many gaps there are',
      story: {
        expect: { every: '1h', grace: '5m' },
        at: '05:00',
        gaps: ['00:40', '01:20', '02:10', '03:00', '03:50', '04:40'].map((time) => ({
          from: at(time),
          until: at(time) + 30_000,
        })),
      },
      is: ['= unknown 01:05–'],
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
          expected_at: '2026-11-25T01:30:00.000Z',
          grace_seconds: 600,
          last_execution: 'a',
          last_started_at: '2026-11-25T00:31:00.000Z',
        },
        since: '2026-11-25T01:40:00.000Z',
        told: true,
      },
    ]);
  });
});
