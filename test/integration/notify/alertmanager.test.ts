import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import { sendTest } from '../../../internal/controller/notify/send-test.ts';
import { alertmanagerNamespace } from '../../../internal/expectation/read-channel.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { anEvent } from '../../support/events.ts';
import { freePort } from '../../support/free-port.ts';
import { AlertmanagerServer } from '../../support/notify/alertmanager-server.ts';
import { declare, invoices, storeAlert, transition } from '../../support/notify/expectations.ts';
import { patience, resolved, suiteAlertmanager } from '../../support/notify/suite-alertmanager.ts';
import { PostgresServer } from '../../support/postgres-server.ts';
import { openDatabase, migrate } from '../../support/store.ts';
import { until } from '../../support/until.ts';

const dayMs = 86_400_000;

describe('Alertmanager', () => {
  const suite = suiteAlertmanager();
  const { database, start, shown, notified } = suite;

  it('gets alerts with the labels and links of the automation, and no execution', async () => {
    await declare(database.db);
    const runs = ['run-17', 'run-18'].map((occurrence, index) => {
      const reason = `${occurrence} takes longer than 45 min.`;
      return transition('opened', { kind: 'overrunning', occurrence, reason, openedAt: Date.now() - 60_000 + index });
    });
    for (const run of runs) await storeAlert(database.db, run);
    await start();
    const alert = await shown('AutomationOverrunning');
    expect(alert.labels).to.deep.equal({
      alertname: 'AutomationOverrunning',
      organization: 'acme',
      automation: 'acme-automations/nightly-invoices',
      severity: 'page',
      team: 'billing',
    });
    const page = `https://console.example/o/acme/automations/${invoices}`;
    expect(alert.annotations).to.deep.equal({
      summary: 'Nightly invoices runs longer than it should',
      description: 'run-17 takes longer than 45 min.\nrun-18 takes longer than 45 min.',
      expected: 'starts at 30 2 * * 1-5 (Europe/Madrid), at most 10 min late; each run ends within 45 min',
      console: page,
      runbook_url: 'https://wiki.acme.example/invoices',
      links: 'Runbook: https://wiki.acme.example/invoices',
    });
    expect(alert.generatorURL).to.equal(page);
    // A controller may be away for hours, and nobody hears that it is over.
    expect(Date.parse(alert.endsAt) - Date.now()).to.be.within(2 * dayMs, 3 * dayMs);
    expect(await suite.alertmanager.alerts()).to.have.lengthOf(1);
  });

  it('names the run, its error and the first line of it', async () => {
    await declare(database.db);
    const errorDescription = '\n  The ledger is not closed.\n    at close (ledger.js:1)\n';
    await recordEvents(database.db, [
      anEvent({ automationId: invoices, executionId: 'run 17', kind: 'START' }),
      anEvent({ automationId: invoices, executionId: 'run 17', kind: 'ERROR', errorId: 'E-LEDGER', errorDescription }),
    ]);
    await storeAlert(database.db, transition('opened', { kind: 'failing', facts: { execution: 'run 17', failed: 1 } }));
    await start();
    expect((await shown('AutomationFailing')).annotations).to.include({
      summary: 'Nightly invoices is failing',
      run: `https://console.example/o/acme/executions/${invoices}/run%2017`,
      error_id: 'E-LEDGER',
      error: 'The ledger is not closed.',
    });
  });

  it('groups the alerts of an organization, and keeps silences', async () => {
    const automations = ['a', 'b', 'c'].map((letter) => ({
      name: `bot-${letter}`,
      automationId: `00000000-0000-4000-8000-00000000000${letter}`,
    }));
    for (const { name, automationId } of automations) {
      await declare(database.db, { name, automationId });
      await storeAlert(database.db, transition('opened', { automationId, name }));
    }
    await suite.alertmanager.silence('automation', 'acme-automations/bot-b');
    await start();
    const { groupLabels, alerts } = await notified('people hear of the group', (group) => group.alerts.length === 2);
    expect(groupLabels).to.deep.equal({ organization: 'acme', alertname: 'AutomationMissing' });
    const names = alerts.map(({ labels }) => labels['automation']);
    expect(names).to.have.members(['acme-automations/bot-a', 'acme-automations/bot-c']);
    const silenced = (await suite.alertmanager.alerts()).filter(({ status }) => status.silencedBy.length > 0);
    expect(silenced.map(({ labels }) => labels['automation'])).to.deep.equal(['acme-automations/bot-b']);
  });

  it('repeats nothing that is muted or acknowledged, and still hears of its end', async () => {
    await declare(database.db);
    const [missing, failing] = [transition('opened'), transition('opened', { kind: 'failing' })];
    for (const change of [missing, failing]) await storeAlert(database.db, change);
    const act = async (given: { kind: 'acknowledge' | 'mute' | 'unmute'; about?: string; until_at?: Date }) => {
      const id = randomUUID();
      const row = {
        organization: 'acme',
        id,
        automation_id: invoices,
        note: 'I look at it',
        made_by: 'Olga',
        ...given,
      };
      await database.db.insertInto('acts').values(row).execute();
      return id;
    };
    const silenced = (...kinds: string[]) =>
      until(
        `${kinds.join()} silenced`,
        async () => {
          const alerts = (await suite.alertmanager.alerts()).filter(({ status }) => status.silencedBy.length > 0);
          return isDeepStrictEqual(new Set(alerts.map(({ labels }) => labels['alertname'])), new Set(kinds));
        },
        patience,
      );
    await start();
    await shown('AutomationFailing');
    await act({ kind: 'acknowledge', about: missing.alert.id });
    await silenced('AutomationMissing');
    const mute = await act({ kind: 'mute', until_at: new Date(Date.now() + 3_600_000) });
    await silenced('AutomationFailing', 'AutomationMissing');
    await act({ kind: 'unmute', about: mute });
    await silenced('AutomationMissing');
    // Another run with the same labels, of which nobody takes care.
    const again = transition('opened', { occurrence: 'another' });
    await storeAlert(database.db, again);
    await silenced();
    await act({ kind: 'acknowledge', about: again.alert.id });
    await silenced('AutomationMissing');
    for (const change of [missing, again]) await storeAlert(database.db, resolved(change));
    const isEnd = ({ status, labels }: { status: string; labels: Record<string, string> }): boolean =>
      status === 'resolved' && labels['alertname'] === 'AutomationMissing';
    await notified('people hear of the end', ({ alerts }) => alerts.some(isEnd));
  });

  it('gets a test from the console, which shows the answer of each replica', async () => {
    const test = (): Promise<string> =>
      sendTest(database.db, new URL('https://console.example'), {
        organization: 'acme',
        namespace: alertmanagerNamespace,
        name: 'all',
      });
    const answered = () =>
      until('an answer', async () => {
        const row = await database.db
          .selectFrom('deliveries')
          .selectAll()
          .orderBy('sequence', 'desc')
          .executeTakeFirst();
        const isOver = (row?.delivered_at ?? row?.given_up_at ?? null) !== null;
        return isOver && row?.last_error !== 'there is no answer' ? row : undefined;
      });
    expect(await test()).to.equal('gone');
    await start();
    await until('the Alertmanagers are known', async () => (await test()) === 'sent');
    expect((await answered()).last_error).to.equal(null);
    const heard = await notified('people hear it', ({ groupLabels }) => groupLabels['alertname'] === 'RunledgerTest');
    expect(heard.groupLabels['organization']).to.equal('acme');
    await suite.stopAll();
    const dead = `http://127.0.0.1:${await freePort()}`;
    await start({ urls: [suite.alertmanager.url, dead] });
    await until('the test is taken', async () => (await test()) === 'sent');
    const { given_up_at: end, last_error: error } = await answered();
    expect(end).to.be.instanceOf(Date);
    expect(error).to.include(`${dead}: `).and.to.include('ECONNREFUSED');
  });

  it('inhibits the alerts of automations while Runledger is blind', async () => {
    const blind = { since: Date.now() - 60_000, reason: 'Redis does not answer.' };
    await declare(database.db);
    await storeAlert(database.db, transition('opened'));
    await start({ blind });
    const alert = await until(
      'the alert is inhibited',
      async () => (await suite.alertmanager.alerts()).find(({ status }) => status.inhibitedBy.length > 0),
      patience,
    );
    expect(alert.labels['alertname']).to.equal('AutomationMissing');
    expect((await shown('RunledgerBlind')).annotations['description']).to.equal('Redis does not answer.');
    const heard = await notified(
      'people hear of the blindness',
      ({ groupLabels }) => groupLabels['alertname'] === 'RunledgerBlind',
    );
    expect(heard.status).to.equal('firing');
  });

  it('gets all alerts again after a restart, on each replica', async () => {
    const other = await AlertmanagerServer.start(suite.people.url);
    try {
      await declare(database.db);
      await storeAlert(database.db, transition('opened'));
      await suite.alertmanager.kill();
      await start({ urls: [suite.alertmanager.url, other.url] });
      await shown('AutomationMissing', other);
      const notice = await until('the notice names the unavailable replica', async () => {
        const rows = await database.db.selectFrom('alert_notices').selectAll().execute();
        return rows.find(({ last_error }) => last_error !== null);
      });
      expect(notice.receiver).to.equal(`alertmanager ${suite.alertmanager.url}`);
      expect(notice.last_error).to.contain('ECONNREFUSED');
      await suite.alertmanager.startAgain();
      await shown('AutomationMissing');
    } finally {
      await other.stop();
    }
  });

  it('still gets open alerts while Postgres is unavailable', async () => {
    const postgres = await PostgresServer.start();
    await migrate(postgres.url());
    const db = openDatabase(postgres.url());
    try {
      await declare(db);
      await storeAlert(db, transition('opened'));
      await start({ db });
      const before = await shown('AutomationMissing');
      await postgres.kill();
      await until(
        'the alert is repeated',
        async () => (await suite.alertmanager.alerts()).some(({ endsAt }) => endsAt > before.endsAt),
        patience,
      );
    } finally {
      await suite.stopAll();
      await db.destroy();
      await postgres.stop();
    }
  });
});
