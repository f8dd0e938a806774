import { expect } from 'chai';
import { describeExpectation } from '../../../internal/expectation/describe-expectation.ts';
import { readAutomation } from '../../../internal/expectation/read-automation.ts';

const automationId = '0B0E8A3C-6f5e-4c6b-9f0e-3f8b9a9d1c11';

/** The problems of a declaration with these expectations. */
function problemsOf(expected: unknown): string[] {
  return readAutomation({ automationId, expect: expected }).problems;
}

const notCron = 'expect.schedule: must be a cron expression of five fields, such as 30 2 * * 1-5';

describe('a declaration of an automation', () => {
  for (const [starts, grace] of [
    [{ schedule: '0 2 * * *' }, '10 min'],
    [{ schedule: '*/5 * * * *' }, '2 min 30 s'],
    [{ schedule: '* * * * *' }, '30 s'],
    [{ schedule: '0,55 0,23 * * *' }, '2 min 30 s'],
    [{ schedule: '0,55 1,3 * * *' }, '10 min'],
    [{ every: '4m' }, '2 min'],
    [{ every: '1h' }, '10 min'],
    [{ schedule: '*/5 * * * *', grace: '10m' }, '10 min'],
  ] as const) {
    it(`with ${JSON.stringify(starts)} lets a run start ${grace} late`, () => {
      expect(describeExpectation(starts).join(', ')).to.match(new RegExp(`at most ${grace} late$`));
    });
  }

  it('keeps what it says, and gets defaults for the rest', () => {
    const { spec } = readAutomation({
      automationId,
      links: [{ url: 'https://wiki.acme.example/invoices' }],
      expect: {
        schedule: '30 2 * * 1-5',
        timeZone: 'Europe/Madrid',
        maxDuration: '1h30m',
        failures: { rate: 20, of: 50 },
      },
      alertLabels: { severity: 'page' },
      tags: ['nightly', 'billing'],
    });
    expect(spec).to.deep.equal({
      automationId: automationId.toLowerCase(),
      displayName: '',
      owner: '',
      tags: ['nightly', 'billing'],
      links: [{ title: 'https://wiki.acme.example/invoices', url: 'https://wiki.acme.example/invoices' }],
      expect: {
        schedule: '30 2 * * 1-5',
        timeZone: 'Europe/Madrid',
        maxDuration: '1h30m',
        failures: { rate: 20, of: 50 },
      },
      alertLabels: { severity: 'page' },
      suspend: false,
    });
  });

  it('is right without expectations', () => {
    expect(readAutomation({ automationId, expect: null }).spec?.expect).to.equal(undefined);
  });

  it('names every wrong field at once', () => {
    const { problems } = readAutomation({
      automationId: 'invoices',
      displayName: 7,
      suspend: 'no',
      colour: 'red',
      links: [{ title: 'Runbook' }, { url: 'javascript:alert(1)' }],
      alertLabels: { 'no-dash': 'x', organization: 'other' },
      expect: { schedule: '61 * * * *', grace: 'soon' },
    });
    expect(problems).to.have.members([
      'colour: is unknown; known are automationId, displayName, owner, tags, links, expect, alertLabels, suspend',
      'automationId: must be a UUID',
      'displayName: must be a text',
      'links[0].url: is required',
      'links[1].url: must be an http:// or https:// address',
      'alertLabels.no-dash: must be a label name: at most 63 letters, digits and underscores',
      'alertLabels.organization: is a label that Runledger sets itself',
      'suspend: must be true or false',
      'expect.grace: must be a duration such as 45s, 10m, 1h30m or 2d',
      'expect.schedule: must be a cron expression of five fields, such as 30 2 * * 1-5: the minute must be from 0 to 59, not 61',
    ]);
  });

  for (const [expected, problem] of [
    [{ schedule: '0 0 31 2 *' }, 'expect.schedule: never has a time'],
    [{ schedule: '0 0 * * * *' }, `${notCron}: it has 6 fields: seconds and years are not taken`],
    [{ schedule: '0 0 * *' }, `${notCron}: it has 4 fields`],
    [{ schedule: ' ' }, `${notCron}: it has 0 fields`],
    [{ schedule: '@reboot' }, `${notCron}: it has 1 field`],
    [{ schedule: '@Daily' }, `${notCron}: write @Daily as 0 0 * * *`],
    [{ schedule: '@every 0s' }, `${notCron}: for an interval, set every instead, such as every: 30m`],
    [
      { schedule: 'CRON_TZ=Europe/Madrid 0 0 * * *' },
      `${notCron}: set the zone as timeZone, not as CRON_TZ=Europe/Madrid`,
    ],
    [{ schedule: '0 0 0 * *' }, `${notCron}: the day of the month must be from 1 to 31, not 0`],
    [{ schedule: '60 * * * *' }, `${notCron}: the minute must be from 0 to 59, not 60`],
    [{ schedule: '0 24 * * *' }, `${notCron}: the hour must be from 0 to 23, not 24`],
    [{ schedule: '0 0 1 13 *' }, `${notCron}: the month must be from 1 to 12, not 13`],
    [{ schedule: '0 0 * * 8' }, `${notCron}: the day of the week must be from 0 to 7, not 8`],
    [{ schedule: '*/0 * * * *' }, `${notCron}: the step of the minute must be from 1 to 59, not 0`],
    [{ schedule: '*/90 * * * *' }, `${notCron}: the step of the minute must be from 1 to 59, not 90`],
    [{ schedule: '5-1 * * * *' }, `${notCron}: the minute 5-1 ends before it begins: a range goes up, from 0 to 59`],
    [
      { schedule: '0 0 * * fri-mon' },
      `${notCron}: the day of the week fri-mon ends before it begins: a range goes up, from 0 to 7`,
    ],
    [
      { schedule: '-5 * * * *' },
      `${notCron}: the minute "" must be a number from 0 to 59, a range, a list, or * with a step`,
    ],
    [
      { schedule: '0 0 * juin *' },
      `${notCron}: the month "juin" must be a number from 1 to 12, a range, a list, or * with a step, or a name such as FEB`,
    ],
    [
      { schedule: '0 0 * * MO' },
      `${notCron}: the day of the week "MO" must be a number from 0 to 7, a range, a list, or * with a step, or a name such as MON`,
    ],
    [{ schedule: '0 0 * * *', timeZone: '+02:00' }, /^expect\.timeZone: must be a time zone of the IANA database/],
    [{ schedule: '0 0 * * *', timeZone: 'Europe/Atlantis' }, /^expect\.timeZone: must be a time zone/],
    [{ schedule: '0 0 * * *', every: '1h' }, 'expect.every: must not be set beside schedule'],
    [{ every: '1h', timeZone: 'Europe/Madrid' }, 'expect.timeZone: needs a schedule'],
    [{ every: '5s' }, 'expect.every: must be at least 10s'],
    [{ every: '367d' }, 'expect.every: must be at most 366d'],
    [{ maxDuration: '1.5h' }, 'expect.maxDuration: must be a duration such as 45s, 10m, 1h30m or 2d'],
    [{ maxDuration: '32d' }, 'expect.maxDuration: must be at most 31d'],
    [{ grace: '1m' }, 'expect.grace: needs a schedule, or every'],
    [
      { failures: {} },
      'expect.failures: must have either consecutive, or count and within, or rate and of, or never: true',
    ],
    [
      { failures: { consecutive: 1, count: 2 } },
      'expect.failures: must have either consecutive, or count and within, or rate and of, or never: true',
    ],
    [{ failures: { consecutive: 0 } }, 'expect.failures.consecutive: must be a whole number from 1 to 1000'],
    [{ failures: { rate: 101, of: 5 } }, 'expect.failures.rate: must be a whole number from 1 to 100'],
    [{ failures: { count: 2, within: '60d' } }, 'expect.failures.within: must be at most 31d'],
    ['always', 'expect: must be an object'],
  ] as const) {
    it(`refuses ${JSON.stringify(expected)}`, () => {
      const problems = problemsOf(expected);
      expect(problems).to.have.length(1);
      if (typeof problem === 'string') expect(problems[0]).to.equal(problem);
      else expect(problems[0]).to.match(problem);
    });
  }

  it('is no list and no text', () => {
    for (const given of [undefined, null, [], 'x']) {
      expect(readAutomation(given).problems).to.include('spec: must be an object');
    }
  });
});
