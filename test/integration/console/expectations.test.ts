import { expect } from 'chai';
import { Outbox } from '../../../internal/controller/notify/outbox.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { anEvent } from '../../support/events.ts';
import { suiteLogin } from '../../support/login.ts';
import { declare, declareChannel, invoices, storeAlert, transition } from '../../support/notify/expectations.ts';

const dayMs = 86_400_000;
const now = Date.now();

/** Midnight of yesterday, UTC. */
const expected = Math.floor(now / dayMs) * dayMs - dayMs;
const occurrence = new Date(expected).toISOString();
const reason = 'No run started within 10 min of midnight.';
const receiver = 'alertmanager http://am-1:9093';

describe('expectations in the console', () => {
  const suite = suiteLogin();

  before(async () => {
    const { db } = suite.database;
    await declare(db, { expect: { schedule: '0 0 * * *', grace: '10m' } });
    await declareChannel(db, { url: 'https://incidents.example/' });
    const missing = transition('opened', { occurrence, reason, openedAt: expected + 600_000 });
    await storeAlert(db, missing);
    const { kind, facts, openedAt, id } = missing.alert;
    const verdict = [
      { kind, occurrence, reason, facts, since: new Date(openedAt).toISOString(), told: kind !== 'late' },
    ];
    await db
      .updateTable('automations')
      .set({ verdict: JSON.stringify(verdict), evaluated_at: new Date(), declared_at: new Date(now - 5 * dayMs) })
      .execute();
    const notice = { alert_id: id, organization: 'acme', receiver, first_told_at: new Date() };
    const over = transition('resolved', { kind: 'failing', openedAt: expected - dayMs });
    await storeAlert(db, over);
    const ofEnd = { ...notice, alert_id: over.alert.id, resolved_told_at: new Date() };
    await db.insertInto('alert_notices').values([notice, ofEnd]).execute();
    await db.transaction().execute((trx) => new Outbox(undefined).enqueueAlerts(trx, [missing]));
    await db.updateTable('deliveries').set({ attempts: 1, delivered_at: new Date() }).execute();
  });

  /** A page, and its text without markup. */
  const read = async (path: string): Promise<{ page: string; text: string }> => {
    const { status, body: page } = await (await suite.reader()).get(`/o/acme/${path}`);
    expect(status).to.equal(200);
    return { page, text: page.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ') };
  };

  /** The titles of the marks of expected times with this result. */
  const marksOf = (page: string, wanted: 'met' | 'missing'): (string | undefined)[] =>
    [...page.matchAll(/<g class="expected (\w+)" ?>\s*<title>(.*?)<\/title>/g)]
      .filter(([, result]) => result === wanted)
      .map(([, , title]) => title);

  const midnightOf = (time: number): string => `${new Date(time).toISOString().slice(0, 10)} 00:00:00 UTC`;

  it('say on the overview which automation needs attention, and why', async () => {
    const { text } = await read('');
    expect(text).to.match(/Needs attention 1 of 1 automation /);
    expect(text).to.match(new RegExp(`Nightly invoices Missing ${reason}`));
  });

  it('say on the automation what is expected, what came of it, and who was told', async () => {
    const { page, text } = await read(`automations/${invoices}`);
    expect(text).to.include('starts at 0 0 * * * (UTC), at most 10 min late');
    expect(text).to.match(new RegExp(`Missing ${reason} since`));
    // Today's time is missing too as soon as its grace has passed.
    const until = now - 600_000;
    const outage = [expected, expected + dayMs].filter((time) => time <= until);
    expect(marksOf(page, 'missing')).to.deep.equal(outage.map((time) => `Expected, and missing: ${midnightOf(time)}`));
    expect(marksOf(page, 'met')).not.to.have.length(0);
    expect(text)
      .to.include(receiver)
      .and.to.match(/Delivered .* acme-automations\/incidents missing/);
  });

  it('show each missing run of an outage that is one alert, up to the run that ended it', async () => {
    const { db } = suite.database;
    const automationId = '0b0e8a3c-6f5e-4c6b-9f0e-3f8b9a9d1c22';
    await declare(db, { automationId, name: 'outage', expect: { schedule: '0 0 * * *', grace: '10m' } });
    await db
      .updateTable('automations')
      .set({ declared_at: new Date(now - 9 * dayMs) })
      .where('automation_id', '=', automationId)
      .execute();
    const [first, ended] = [expected - 5 * dayMs, expected - 2 * dayMs];
    const alert = { automationId, occurrence: new Date(first).toISOString(), openedAt: first + 600_000 };
    await storeAlert(db, transition('resolved', { ...alert, resolvedAt: ended + 60_000 }));
    const { page } = await read(`automations/${automationId}`);
    expect(marksOf(page, 'missing')).to.deep.equal(
      [first, first + dayMs, first + 2 * dayMs].map((time) => `Expected, and missing: ${midnightOf(time)}`),
    );
    expect(marksOf(page, 'met')).to.include(`Expected: ${midnightOf(ended)}`);
    await db.deleteFrom('alerts').where('automation_id', '=', automationId).execute();
    await db.deleteFrom('automations').where('automation_id', '=', automationId).execute();
  });

  it('have a history of alerts and deliveries, and channels that take a test', async () => {
    const { page, text } = await read('alerts');
    expect(text).to.match(new RegExp(`Missing Nightly invoices ${reason} .* open ${receiver}`));
    expect(text).to.match(new RegExp(`Failing Nightly invoices .* ${receiver} .*, its end`));
    expect(text).to.match(/Delivered .* acme-automations\/incidents missing Nightly invoices/);
    expect(page).to.include('action="/o/acme/channels/acme-automations/incidents/test"');
  });

  const late = new Date(now - 600_000);
  for (const [who, ticked, reasonOfLag] of [
    ['the controller is', late, 'No controller is at work'],
    ['the workers are', new Date(), 'The workers have not stored the newest events yet'],
  ] as const) {
    it(`never say that all is as expected while ${who} behind`, async () => {
      const { db } = suite.database;
      const { verdict } = await db.selectFrom('automations').select('verdict').executeTakeFirstOrThrow();
      await db.updateTable('automations').set({ verdict: '[]' }).execute();
      await db.updateTable('controller_state').set({ ticked_at: ticked, watermark: late }).execute();
      const upTo = `${late.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
      try {
        for (const place of ['', 'automations', `automations/${invoices}`]) {
          const { page, text } = await read(place);
          expect(text, place).to.include('Runledger is behind by 10 min').and.to.include(reasonOfLag);
          expect(text, place).to.match(new RegExp(`(As expected up|Up) to ${upTo}`));
          expect(text, place).to.not.match(/As expected (?!up)/);
          expect(page, place).to.not.include('class="tile succeeded"');
        }
      } finally {
        await db.updateTable('controller_state').set({ ticked_at: null, watermark: null }).execute();
        await db
          .updateTable('automations')
          .set({ verdict: JSON.stringify(verdict) })
          .execute();
      }
    });
  }

  it('name the automation in lists of executions and errors, and on an execution', async () => {
    const failed = { organization: 'acme', automationId: invoices, executionId: 'run-1' };
    await recordEvents(suite.database.db, [
      anEvent({ ...failed, kind: 'START' }),
      anEvent({ ...failed, kind: 'ERROR', errorId: 'E-1' }),
    ]);
    expect((await read('executions')).text).to.include('run-1 Nightly invoices');
    expect((await read('errors')).text).to.include('E-1 Nightly invoices');
    const { text } = await read(`executions/${invoices}/run-1`);
    expect(text).to.include('Executions / Nightly invoices').and.to.include(`Automation Nightly invoices ${invoices}`);
  });
});
