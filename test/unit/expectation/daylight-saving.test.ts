import { expect } from 'chai';
import { Schedules } from '../../../internal/expectation/schedules.ts';

/**
 * Made by hand from `zdump -v -c 2026,2027` of each zone, tz database 2025c. `clock` is what the
 * clocks of the zone do at that time. `times` are all expected times of the span, in UTC.
 */
const table = [
  {
    zone: 'Europe/Madrid',
    clock: '2026-03-29 01:00Z, 02:00 → 03:00',
    span: ['2026-03-28T02:00Z', '2026-03-30T02:00Z'],
    fixed: { schedule: '30 2 * * *', times: ['2026-03-30T00:30Z'] },
    around: ['2026-03-28T23:30Z', '2026-03-29T02:30Z'],
    wildcard: { schedule: '0 * * * *', times: ['2026-03-29T00:00Z', '2026-03-29T01:00Z', '2026-03-29T02:00Z'] },
  },
  {
    zone: 'Europe/Madrid',
    clock: '2026-10-25 01:00Z, 03:00 → 02:00',
    span: ['2026-10-24T02:00Z', '2026-10-26T02:00Z'],
    fixed: { schedule: '30 2 * * *', times: ['2026-10-25T00:30Z', '2026-10-26T01:30Z'] },
    around: ['2026-10-24T23:30Z', '2026-10-25T02:30Z'],
    wildcard: { schedule: '0 * * * *', times: ['2026-10-25T00:00Z', '2026-10-25T01:00Z', '2026-10-25T02:00Z'] },
  },
  {
    zone: 'America/New_York',
    clock: '2026-03-08 07:00Z, 02:00 → 03:00',
    span: ['2026-03-07T08:00Z', '2026-03-09T08:00Z'],
    fixed: { schedule: '30 2 * * *', times: ['2026-03-09T06:30Z'] },
    around: ['2026-03-08T05:30Z', '2026-03-08T08:30Z'],
    wildcard: { schedule: '0 * * * *', times: ['2026-03-08T06:00Z', '2026-03-08T07:00Z', '2026-03-08T08:00Z'] },
  },
  {
    zone: 'America/New_York',
    clock: '2026-11-01 06:00Z, 02:00 → 01:00',
    span: ['2026-10-31T08:00Z', '2026-11-02T08:00Z'],
    fixed: { schedule: '30 1 * * *', times: ['2026-11-01T05:30Z', '2026-11-02T06:30Z'] },
    around: ['2026-11-01T04:30Z', '2026-11-01T07:30Z'],
    wildcard: { schedule: '0 * * * *', times: ['2026-11-01T05:00Z', '2026-11-01T06:00Z', '2026-11-01T07:00Z'] },
  },
  {
    zone: 'Australia/Lord_Howe',
    clock: '2026-10-03 15:30Z, 02:00 → 02:30',
    span: ['2026-10-02T16:00Z', '2026-10-04T16:00Z'],
    fixed: { schedule: '15 2 * * *', times: ['2026-10-04T15:15Z'] },
    around: ['2026-10-03T14:15Z', '2026-10-03T17:15Z'],
    wildcard: { schedule: '0 * * * *', times: ['2026-10-03T14:30Z', '2026-10-03T16:00Z', '2026-10-03T17:00Z'] },
  },
  {
    zone: 'Australia/Lord_Howe',
    clock: '2026-04-04 15:00Z, 02:00 → 01:30',
    span: ['2026-04-03T16:00Z', '2026-04-05T16:00Z'],
    fixed: { schedule: '45 1 * * *', times: ['2026-04-04T14:45Z', '2026-04-05T15:15Z'] },
    around: ['2026-04-04T13:30Z', '2026-04-04T16:30Z'],
    wildcard: {
      schedule: '45 * * * *',
      times: ['2026-04-04T13:45Z', '2026-04-04T14:45Z', '2026-04-04T15:15Z', '2026-04-04T16:15Z'],
    },
  },
  {
    zone: 'Africa/Casablanca',
    clock: '2026-03-22 02:00Z, 02:00 → 03:00',
    span: ['2026-03-21T03:00Z', '2026-03-23T03:00Z'],
    fixed: { schedule: '30 2 * * *', times: ['2026-03-23T01:30Z'] },
    around: ['2026-03-22T00:30Z', '2026-03-22T03:30Z'],
    wildcard: { schedule: '0 * * * *', times: ['2026-03-22T01:00Z', '2026-03-22T02:00Z', '2026-03-22T03:00Z'] },
  },
  {
    zone: 'Africa/Casablanca',
    clock: '2026-02-15 02:00Z, 03:00 → 02:00',
    span: ['2026-02-14T03:00Z', '2026-02-16T03:00Z'],
    fixed: { schedule: '30 2 * * *', times: ['2026-02-15T01:30Z', '2026-02-16T02:30Z'] },
    around: ['2026-02-15T00:30Z', '2026-02-15T03:30Z'],
    wildcard: { schedule: '0 * * * *', times: ['2026-02-15T01:00Z', '2026-02-15T02:00Z', '2026-02-15T03:00Z'] },
  },
  {
    zone: 'America/Havana',
    clock: '2026-03-08 05:00Z, 00:00 → 01:00',
    span: ['2026-03-07T04:30Z', '2026-03-09T04:30Z'],
    fixed: { schedule: '0 0 * * *', times: ['2026-03-07T05:00Z', '2026-03-09T04:00Z'] },
    around: ['2026-03-08T03:30Z', '2026-03-08T06:30Z'],
    wildcard: { schedule: '0 * * * *', times: ['2026-03-08T04:00Z', '2026-03-08T05:00Z', '2026-03-08T06:00Z'] },
  },
  {
    zone: 'America/Havana',
    clock: '2026-11-01 05:00Z, 01:00 → 00:00',
    span: ['2026-10-31T03:30Z', '2026-11-02T05:30Z'],
    fixed: { schedule: '0 0 * * *', times: ['2026-10-31T04:00Z', '2026-11-01T04:00Z', '2026-11-02T05:00Z'] },
    around: ['2026-11-01T03:30Z', '2026-11-01T06:30Z'],
    wildcard: { schedule: '0 * * * *', times: ['2026-11-01T04:00Z', '2026-11-01T05:00Z', '2026-11-01T06:00Z'] },
  },
  {
    zone: 'Asia/Beirut',
    clock: '2026-03-28 22:00Z, 00:00 → 01:00',
    span: ['2026-03-27T21:30Z', '2026-03-29T21:30Z'],
    fixed: { schedule: '0 0 * * *', times: ['2026-03-27T22:00Z', '2026-03-29T21:00Z'] },
    around: ['2026-03-28T20:30Z', '2026-03-28T23:30Z'],
    wildcard: { schedule: '0 * * * *', times: ['2026-03-28T21:00Z', '2026-03-28T22:00Z', '2026-03-28T23:00Z'] },
  },
  {
    zone: 'Asia/Beirut',
    clock: '2026-10-24 21:00Z, 00:00 → 23:00',
    span: ['2026-10-23T20:15Z', '2026-10-25T21:45Z'],
    fixed: { schedule: '30 23 * * *', times: ['2026-10-23T20:30Z', '2026-10-24T20:30Z', '2026-10-25T21:30Z'] },
    around: ['2026-10-24T19:30Z', '2026-10-24T22:30Z'],
    wildcard: { schedule: '0 * * * *', times: ['2026-10-24T20:00Z', '2026-10-24T21:00Z', '2026-10-24T22:00Z'] },
  },
];

describe('daylight saving', () => {
  for (const { zone, clock, span, fixed, around, wildcard } of table) {
    it(`in ${zone} (${clock}): fixed hours come once or not at all`, () => {
      expect(timesOf(zone, fixed.schedule, span)).to.deep.equal(fixed.times);
      expect(backwards(zone, fixed.schedule, span)).to.deep.equal(fixed.times);
    });

    it(`in ${zone} (${clock}): every hour goes by elapsed time`, () => {
      expect(timesOf(zone, wildcard.schedule, around)).to.deep.equal(wildcard.times);
      expect(backwards(zone, wildcard.schedule, around)).to.deep.equal(wildcard.times);
    });
  }
});

function timesOf(zone: string, schedule: string, [from = '', until = '']: string[]): string[] {
  const times = new Schedules().get(schedule, zone);
  const found: string[] = [];
  let time = times.after(Date.parse(from) - 1);
  while (time !== undefined && time <= Date.parse(until)) {
    found.push(textOf(time));
    time = times.after(time);
  }
  return found;
}

function backwards(zone: string, schedule: string, [from = '', until = '']: string[]): string[] {
  const times = new Schedules().get(schedule, zone);
  const found: string[] = [];
  let time = times.upTo(Date.parse(until));
  while (time !== undefined && time >= Date.parse(from)) {
    found.unshift(textOf(time));
    time = times.upTo(time - 1);
  }
  return found;
}

function textOf(time: number): string {
  return new Date(time).toISOString().replace(':00.000Z', 'Z');
}
