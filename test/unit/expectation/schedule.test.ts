import { expect } from 'chai';
import type { ExpectedTimes } from '../../../internal/expectation/schedule.ts';
import { Schedules } from '../../../internal/expectation/schedules.ts';

/** The times that a schedule expects from one time to another, both included. */
function expectedTimes(schedule: ExpectedTimes, from: string, to: string): string[] {
  const times: string[] = [];
  let time = schedule.after(Date.parse(from) - 1);
  while (time !== undefined && time <= Date.parse(to)) {
    times.push(new Date(time).toISOString().replace(':00.000Z', 'Z'));
    time = schedule.after(time);
  }
  return times;
}

describe('expected times', () => {
  for (const { title, schedule, zone, from, to, times } of [
    {
      title: 'Europe/Madrid skips 02:30 on the last Sunday of March',
      schedule: '30 2 * * *',
      zone: 'Europe/Madrid',
      from: '2026-03-28T00:00Z',
      to: '2026-03-30T12:00Z',
      times: ['2026-03-28T01:30Z', '2026-03-30T00:30Z'],
    },
    {
      title: 'Europe/Madrid repeats 02:30 on the last Sunday of October, and the first counts',
      schedule: '30 2 * * *',
      zone: 'Europe/Madrid',
      from: '2026-10-24T00:00Z',
      to: '2026-10-26T12:00Z',
      times: ['2026-10-24T00:30Z', '2026-10-25T00:30Z', '2026-10-26T01:30Z'],
    },
    {
      title: 'Europe/Madrid repeats each half hour, and both count: every hour goes by elapsed time',
      schedule: '*/30 * * * *',
      zone: 'Europe/Madrid',
      from: '2026-10-25T00:00Z',
      to: '2026-10-25T02:30Z',
      times: [
        '2026-10-25T00:00Z',
        '2026-10-25T00:30Z',
        '2026-10-25T01:00Z',
        '2026-10-25T01:30Z',
        '2026-10-25T02:00Z',
        '2026-10-25T02:30Z',
      ],
    },
    {
      title: 'America/New_York skips 02:30 in March',
      schedule: '30 2 * * *',
      zone: 'America/New_York',
      from: '2026-03-07T00:00Z',
      to: '2026-03-09T12:00Z',
      times: ['2026-03-07T07:30Z', '2026-03-09T06:30Z'],
    },
    {
      title: 'America/New_York keeps 03:00 after the skipped hour',
      schedule: '0 3 * * *',
      zone: 'America/New_York',
      from: '2026-03-08T00:00Z',
      to: '2026-03-08T12:00Z',
      times: ['2026-03-08T07:00Z'],
    },
    {
      title: 'America/New_York repeats 01:30 in November, and the first counts',
      schedule: '30 1,2 * * *',
      zone: 'America/New_York',
      from: '2026-11-01T00:00Z',
      to: '2026-11-01T12:00Z',
      times: ['2026-11-01T05:30Z', '2026-11-01T07:30Z'],
    },
    {
      title: 'Lord Howe, whose clock moves by half an hour, skips 02:15 in October',
      schedule: '15 2 * * *',
      zone: 'Australia/Lord_Howe',
      from: '2026-10-02T12:00Z',
      to: '2026-10-04T23:00Z',
      times: ['2026-10-02T15:45Z', '2026-10-04T15:15Z'],
    },
    {
      title: 'Lord Howe repeats 01:45 in April, and the first counts',
      schedule: '*/15 1-2 * * *',
      zone: 'Australia/Lord_Howe',
      from: '2026-04-04T14:00Z',
      to: '2026-04-04T16:00Z',
      times: [
        '2026-04-04T14:00Z',
        '2026-04-04T14:15Z',
        '2026-04-04T14:30Z',
        '2026-04-04T14:45Z',
        '2026-04-04T15:30Z',
        '2026-04-04T15:45Z',
        '2026-04-04T16:00Z',
      ],
    },
    {
      title: 'a leap day comes every four years',
      schedule: '0 0 29 2 *',
      zone: 'UTC',
      from: '2026-01-01T00:00Z',
      to: '2033-01-01T00:00Z',
      times: ['2028-02-29T00:00Z', '2032-02-29T00:00Z'],
    },
    {
      title: 'the 31st comes in seven months',
      schedule: '0 0 31 * *',
      zone: 'UTC',
      from: '2026-01-01T00:00Z',
      to: '2026-12-31T23:00Z',
      times: ['01', '03', '05', '07', '08', '10', '12'].map((month) => `2026-${month}-31T00:00Z`),
    },
    {
      title: 'the day of the month or the day of the week is enough, as in cron',
      schedule: '0 0 13 * FRI',
      zone: 'UTC',
      from: '2026-02-01T00:00Z',
      to: '2026-02-15T00:00Z',
      times: ['2026-02-06T00:00Z', '2026-02-13T00:00Z'],
    },
    {
      title: 'a step of weekdays without an end runs up to Saturday, as in Kubernetes',
      schedule: '0 9 * * 1/2',
      zone: 'UTC',
      from: '2026-11-22T00:00Z',
      to: '2026-11-30T12:00Z',
      times: ['2026-11-23T09:00Z', '2026-11-25T09:00Z', '2026-11-27T09:00Z', '2026-11-30T09:00Z'],
    },
    {
      title: 'the weekday 7 is Sunday, alone, with a step and as the end of a range',
      schedule: '0 9 * * 7,7/2,6-7',
      zone: 'UTC',
      from: '2026-11-22T00:00Z',
      to: '2026-11-29T12:00Z',
      times: ['2026-11-22T09:00Z', '2026-11-28T09:00Z', '2026-11-29T09:00Z'],
    },
  ]) {
    it(title, () => {
      expect(expectedTimes(new Schedules().get(schedule, zone), from, to)).to.deep.equal(times);
    });
  }

  it('backwards are the same as forwards, over a year of each zone', () => {
    for (const zone of ['Europe/Madrid', 'America/New_York', 'Australia/Lord_Howe']) {
      const schedule = new Schedules().get('15,45 1-3 * * *', zone);
      const to = Date.parse('2027-01-01T00:00Z');
      const forwards: number[] = [];
      for (let time = schedule.after(Date.parse('2026-01-01T00:00Z')); time !== undefined && time < to;) {
        forwards.push(time);
        time = schedule.after(time);
      }
      const backwards: number[] = [];
      for (let time = schedule.upTo(to - 1); time !== undefined && backwards.length < forwards.length;) {
        backwards.push(time);
        time = schedule.upTo(time - 1);
      }
      expect(backwards.toReversed()).to.deep.equal(forwards);
      // Two times of an hour in each of three hours a day; daylight saving skips some, and no more.
      expect(forwards.length).to.be.within(365 * 6 - 2, 365 * 6 - 1);
    }
  });
});
