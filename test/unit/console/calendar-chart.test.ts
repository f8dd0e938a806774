import { expect } from 'chai';
import { calendarChart, datesUpTo } from '../../../internal/console/charts/calendar-chart.ts';
import { PageZone } from '../../../internal/console/page-zone.ts';

/** The dates of a calendar, the newest first. */
function datesOf(to: string, timeZone = 'Europe/Madrid'): string[] {
  const zone = new PageZone(timeZone);
  const dates = datesUpTo(zone.date(Date.parse(to)), 3);
  const chart = calendarChart({ dates, zone, expected: [], runs: [] });
  return [...String(chart).matchAll(/>(\d{4}-\d\d-\d\d)</g)].map(([, date = '']) => date);
}

describe('the calendar of expected and actual runs', () => {
  it('has a row for each day of its time zone, also in the hour after a day of 23 hours', () => {
    expect(datesOf('2026-03-29T22:30Z')).to.deep.equal(['2026-03-30', '2026-03-29', '2026-03-28']);
    expect(datesOf('2027-01-01T00:00Z', 'America/New_York')).to.deep.equal(['2026-12-31', '2026-12-30', '2026-12-29']);
  });

  it('has each day once, also in the last hour of a day of 25 hours', () => {
    expect(datesOf('2026-10-25T22:30Z')).to.deep.equal(['2026-10-25', '2026-10-24', '2026-10-23']);
  });
});
