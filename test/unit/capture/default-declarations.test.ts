import { expect } from 'chai';
import type { CronJobManifest } from '../../../internal/controller/capture/batch.ts';
import { declarationsOf, withDefaults } from '../../../internal/controller/capture/default-declarations.ts';
import { cronJobWarnings } from '../../../internal/controller/capture/job-warnings.ts';
import { readCronJob } from '../../../internal/controller/capture/read-cron-job.ts';
import { Schedules } from '../../../internal/expectation/schedules.ts';

const automationId = '0b0e8a3c-6f5e-4c6b-9f0e-3f8b9a9d1c11';

function cronJob(name: string, spec: CronJobManifest['spec'] = {}, creationTimestamp = '2026-11-25T02:30:00Z') {
  const uid = `9d6f3c58-3f0c-4a9e-8a5e-0000000000${name}`;
  return readCronJob({ metadata: { uid, namespace: 'acme', name, generation: 2, creationTimestamp }, spec });
}

const template = (id: string) => ({ metadata: { annotations: { 'runledger.dev/automation-id': id } } });

describe('default expectation of a CronJob', () => {
  it('is its schedule in its time zone, and that it is suspended', () => {
    const one = cronJob('01', { schedule: '30 2 * * 1-5', timeZone: 'Europe/Madrid', suspend: true });
    expect(one).to.deep.include({
      automationId: one.uid,
      displayName: '01',
      expect: { schedule: '30 2 * * 1-5', timeZone: 'Europe/Madrid' },
      suspend: true,
      generation: 2,
    });
  });

  it('knows the short forms of schedules', () => {
    expect(cronJob('01', { schedule: '@hourly' }).expect).to.deep.equal({ schedule: '0 * * * *' });
    expect(cronJob('01', { schedule: '@every 1h30m' }).expect).to.deep.equal({ every: '1h30m' });
  });

  it('is none for a schedule that Runledger does not know', () => {
    expect(cronJob('01', { schedule: 'TZ=UTC 0 1 * * *' }).expect).to.equal(undefined);
  });

  it('knows that a step from one number goes to the end of the hour', () => {
    const { expect: quarters, note } = cronJob('01', { schedule: '0/15 * * * *' });
    expect([quarters, note]).to.deep.equal([{ schedule: '0/15 * * * *' }, undefined]);
    const times = new Schedules().get('0/15 * * * *', 'UTC');
    expect(times.after(Date.parse('2026-11-25T00:00Z'))).to.equal(Date.parse('2026-11-25T00:15Z'));
    expect(times.upTo(Date.parse('2026-11-25T00:59Z'))).to.equal(Date.parse('2026-11-25T00:45Z'));
  });

  for (const [schedule, why] of [
    ['*/90 * * * *', 'the step of the minute must be from 1 to 59, not 90'],
    ['@every 1.5h', 'every must be a duration such as 45s, 10m, 1h30m or 2d'],
  ] as const) {
    it(`is none for ${schedule}, and its owner is told`, () => {
      const one = cronJob('01', { schedule });
      expect(one.expect).to.equal(undefined);
      expect(one.note).to.include(`its schedule ${schedule} cannot be read`).and.to.include(why);
      const [warning] = cronJobWarnings([one], () => 'acme');
      expect(warning).to.deep.include({ type: 'Warning', reason: 'UnknownSchedule', message: one.note });
      expect(cronJobWarnings([one], () => undefined)).to.deep.equal([]);
      expect(declarationsOf([one], () => 'acme')[0]?.note).to.equal(one.note);
    });
  }
});

describe('default declarations', () => {
  it('are those of captured CronJobs, of one automation that of the older', () => {
    const [older, younger] = [
      cronJob('02', { jobTemplate: template(automationId) }),
      cronJob('01', { jobTemplate: template(automationId) }, '2026-11-26T02:30:00Z'),
    ];
    const other = cronJob('03');
    const declared = declarationsOf([younger, older, other], ({ name }) => (name === '03' ? undefined : 'acme'));
    expect(declared.map(({ name, organization }) => [name, organization])).to.deep.equal([['02', 'acme']]);
    expect(declared[0]).not.to.have.any.keys('capture', 'createdAt');
  });

  it('do not replace what an Automation of the organization declares', () => {
    const [acme] = declarationsOf([cronJob('01')], () => 'acme');
    const [globex] = declarationsOf([cronJob('01')], () => 'globex');
    if (acme === undefined || globex === undefined) throw new Error('nothing is declared');
    const declared = { ...acme, displayName: 'Nightly invoices' };
    const { automations } = withDefaults({ automations: [declared], channels: [] }, [acme, globex]);
    expect(automations).to.deep.equal([declared, globex]);
  });
});
