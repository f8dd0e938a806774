import { expect } from 'chai';
import type { Blindness, Transition } from '../../../internal/expectation/transition.ts';
import { AlertSender } from '../../../internal/notify/alert-sender.ts';
import type { AlertTimings } from '../../../internal/notify/alert-teller.ts';
import { createRegistry } from '../../../internal/telemetry/metrics.ts';
import { notifyMetrics } from '../../../internal/telemetry/notify-metrics.ts';
import { AlertmanagerServer, type ShownAlert } from '../../support/notify/alertmanager-server.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { anEvent } from '../../support/events.ts';
import { declare, invoices, storeAlert, transition } from '../../support/notify/expectations.ts';
import { startPlainReceiver } from '../../support/notify/receiver.ts';
import { PostgresServer } from '../../support/postgres-server.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { eachDatabase, openDatabase, migrate } from '../../support/store.ts';
import { until } from '../../support/until.ts';

const patience = 30_000;
const dayMs = 86_400_000;

/** What Alertmanager sends to its receivers. */
interface Notification {
  status: 'firing' | 'resolved';
  groupLabels: Record<string, string>;
  alerts: { status: string; labels: Record<string, string> }[];
}

describe('Alertmanager', () => {
  const database = eachDatabase();
  let people: Awaited<ReturnType<typeof startPlainReceiver>>;
  let alertmanager: AlertmanagerServer;
  let blind: Blindness | undefined;
  const senders: AlertSender[] = [];
  beforeEach(async () => {
    blind = undefined;
    people = await startPlainReceiver();
    alertmanager = await AlertmanagerServer.start(people.url);
  });
  afterEach(async () => {
    await Promise.all(senders.splice(0).map((sender) => sender.stop()));
    await alertmanager.stop();
    await people[Symbol.asyncDispose]();
  });

  /** The end of an alert. */
  const resolved = ({ alert }: Transition): Transition => ({
    ...transition('resolved'),
    alert: { ...alert, resolvedAt: Date.now(), resolvedReason: 'It started at 03:30.' },
  });

  const noticesOf = ({ alert }: Transition) =>
    database.db.selectFrom('alert_notices').selectAll().where('alert_id', '=', alert.id).execute();

  const start = async (
    urls: string[] = [alertmanager.url],
    db = database.db,
    timings: Partial<AlertTimings> = {},
  ): Promise<AlertSender> => {
    const sender = new AlertSender({
      db,
      urls: urls.map((url) => new URL(url)),
      consoleUrl: new URL('https://console.example'),
      metrics: notifyMetrics(createRegistry('controller')),
      logger: recordingLogger().logger,
      timings: { repeatMs: 300, checkMs: 20, ...timings },
    });
    senders.push(sender);
    await sender.start();
    sender.announce(blind, true);
    return sender;
  };

  const shown = (name: string, server = alertmanager): Promise<ShownAlert> =>
    until(
      `${name} is shown`,
      async () => (await server.alerts()).find(({ labels }) => labels['alertname'] === name),
      patience,
    );

  const notified = (what: string, is: (notification: Notification) => boolean): Promise<Notification> =>
    until(what, () => people.received.map(({ body }) => JSON.parse(body) as Notification).find(is), patience);

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
    expect(await alertmanager.alerts()).to.have.lengthOf(1);
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

  it('resolves an alert when it is resolved, and the record says who was told when', async () => {
    await declare(database.db);
    const opened = transition('opened');
    await storeAlert(database.db, opened);
    const sender = await start();
    await notified('people hear of it', ({ status }) => status === 'firing');
    await storeAlert(database.db, {
      ...opened,
      alert: { ...opened.alert, ...transition('resolved').alert, id: opened.alert.id },
    });
    sender.announce(undefined, true);
    const { alerts } = await notified('people hear of its end', ({ status }) => status === 'resolved');
    expect(alerts.map(({ labels }) => labels['alertname'])).to.deep.equal(['AutomationMissing']);
    const notice = await until('the notice is complete', async () => {
      const rows = await database.db.selectFrom('alert_notices').selectAll().execute();
      return rows.find((row) => row.resolved_told_at !== null);
    });
    expect(notice).to.deep.include({
      alert_id: opened.alert.id,
      organization: 'acme',
      receiver: `alertmanager ${alertmanager.url}`,
      last_error: null,
    });
    expect(notice.first_told_at).to.be.instanceOf(Date);
  });

  it('groups the alerts of an organization, and keeps silences', async () => {
    const automations = ['a', 'b', 'c'].map((letter) => ({
      name: `bot-${letter}`,
      automationId: `00000000-0000-4000-8000-00000000000${letter}`,
    }));
    for (const { name, automationId } of automations) {
      await declare(database.db, { name, automationId });
      await storeAlert(database.db, transition('opened', { automationId }));
    }
    await alertmanager.silence('automation', 'acme-automations/bot-b');
    await start();
    const { groupLabels, alerts } = await notified('people hear of the group', (group) => group.alerts.length === 2);
    expect(groupLabels).to.deep.equal({ organization: 'acme', alertname: 'AutomationMissing' });
    const names = alerts.map(({ labels }) => labels['automation']);
    expect(names).to.have.members(['acme-automations/bot-a', 'acme-automations/bot-c']);
    const silenced = (await alertmanager.alerts()).filter(({ status }) => status.silencedBy.length > 0);
    expect(silenced.map(({ labels }) => labels['automation'])).to.deep.equal(['acme-automations/bot-b']);
  });

  it('inhibits the alerts of automations while Runledger is blind', async () => {
    blind = { since: Date.now() - 60_000, reason: 'Redis does not answer.' };
    await declare(database.db);
    await storeAlert(database.db, transition('opened'));
    await start();
    const alert = await until(
      'the alert is inhibited',
      async () => (await alertmanager.alerts()).find(({ status }) => status.inhibitedBy.length > 0),
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

  it('knows all alerts again after a restart, and each replica knows them', async () => {
    const other = await AlertmanagerServer.start(people.url);
    try {
      await declare(database.db);
      await storeAlert(database.db, transition('opened'));
      await alertmanager.kill();
      await start([alertmanager.url, other.url]);
      await shown('AutomationMissing', other);
      const notice = await until('the notice names the unavailable replica', async () => {
        const rows = await database.db.selectFrom('alert_notices').selectAll().execute();
        return rows.find(({ last_error }) => last_error !== null);
      });
      expect(notice.receiver).to.equal(`alertmanager ${alertmanager.url}`);
      expect(notice.last_error).to.contain('ECONNREFUSED');
      await alertmanager.startAgain();
      await shown('AutomationMissing');
    } finally {
      await other.stop();
    }
  });

  it('hears of an end once, while it hears of others again and again', async () => {
    await declare(database.db);
    const ended = transition('opened', { occurrence: 'ended' });
    await storeAlert(database.db, ended);
    await storeAlert(database.db, transition('opened', { kind: 'failing' }));
    const sender = await start();
    await shown('AutomationMissing');
    await storeAlert(database.db, resolved(ended));
    sender.announce(undefined, true);
    await until('it hears of the end', async () => (await noticesOf(ended)).every((row) => row.resolved_told_at));
    const before = await alertmanager.received('firing');
    await until(
      'it hears of the other one',
      async () => (await alertmanager.received('firing')) > before + 3,
      patience,
    );
    // One is the end of a blindness, which another process may have told.
    expect(await alertmanager.received('resolved')).to.equal(2);
    expect((await alertmanager.alerts()).map(({ labels }) => labels['alertname'])).to.deep.equal(['AutomationFailing']);
  });

  it('hears of the end of what a controller told that was killed, also if it is no longer declared', async () => {
    await declare(database.db);
    const opened = [transition('opened'), transition('opened', { kind: 'failing' })] as const;
    for (const change of opened) await storeAlert(database.db, change);
    const killed = await start();
    await shown('AutomationMissing');
    await shown('AutomationFailing');
    await killed.stop();
    await storeAlert(database.db, resolved(opened[0]));
    await database.db.deleteFrom('automations').execute();
    await start();
    await notified('people hear of the end', ({ alerts: [alert] }) => alert?.status === 'resolved');
    await until('one is left', async () => (await alertmanager.alerts()).length === 1, patience);
    // Nobody has decided yet that the other one is over.
    await shown('AutomationFailing');
  });

  it('hears of the end under the labels that it knows, and of the alert under new ones', async () => {
    await declare(database.db);
    await storeAlert(database.db, transition('opened'));
    await start();
    await shown('AutomationMissing');
    await database.db
      .updateTable('automations')
      .set({ alert_labels: JSON.stringify({ severity: 'ticket' }) })
      .execute();
    await until(
      'only the new labels are left',
      async () => (await alertmanager.alerts()).map(({ labels }) => labels['severity']).join(' ') === 'ticket',
      patience,
    );
  });

  it('hears of the end also if it hung meanwhile, and delays no other one', async () => {
    const other = await AlertmanagerServer.start(people.url);
    try {
      await declare(database.db);
      const opened = transition('opened');
      await storeAlert(database.db, opened);
      const sender = await start([alertmanager.url, other.url], database.db, { timeoutMs: 2_000 });
      await shown('AutomationMissing');
      await shown('AutomationMissing', other);
      other.freeze();
      const hung = await until('a request has no answer', async () =>
        (await noticesOf(opened)).find((row) => row.last_error !== null),
      );
      await storeAlert(database.db, resolved(opened));
      sender.announce(undefined, true);
      await until('the first one hears of the end', async () => (await alertmanager.alerts()).length === 0, patience);
      expect((await noticesOf(opened)).find((row) => row.receiver === hung.receiver)?.resolved_told_at).to.equal(null);
      other.thaw();
      await until(
        'both have heard',
        async () => (await noticesOf(opened)).every((row) => row.resolved_told_at),
        patience,
      );
      expect(await other.alerts()).to.deep.equal([]);
    } finally {
      await other.stop();
    }
  });

  it('is told about all organizations, although it refuses the alerts of one', async () => {
    await declare(database.db);
    await declare(database.db, { organization: 'globex' });
    await database.db
      .updateTable('automations')
      .set({ alert_labels: JSON.stringify({ 'no-label': 'x' }) })
      .where('organization', '=', 'globex')
      .execute();
    const [ours, theirs] = [transition('opened'), transition('opened', { organization: 'globex' })];
    for (const change of [theirs, ours]) await storeAlert(database.db, change);
    await start();
    await shown('AutomationMissing');
    const [refused] = await until('the refusal is noted', async () => {
      const rows = await noticesOf(theirs);
      return rows.some((row) => row.last_error !== null) && rows;
    });
    expect(refused?.last_error).to.contain('answered 400');
    expect(await noticesOf(ours)).to.have.nested.property('[0].last_error', null);
  });

  it('forgets a blindness as soon as it is over, whoever told of it', async () => {
    blind = { since: Date.now() - 60_000, reason: 'Redis does not answer.' };
    await declare(database.db);
    await storeAlert(database.db, transition('opened'));
    const first = await start();
    const inhibited = async () => (await alertmanager.alerts()).some(({ status }) => status.inhibitedBy.length > 0);
    await until('the alert is inhibited', inhibited, patience);
    first.announce(undefined, false);
    await until('the alert counts again', async () => !(await inhibited()), patience);
    expect((await alertmanager.alerts()).map(({ labels }) => labels['alertname'])).to.deep.equal(['AutomationMissing']);
    first.announce(blind, false);
    await until('the alert is inhibited again', inhibited, patience);
    await first.stop();
    blind = undefined;
    await start();
    await until('the alert counts again', async () => !(await inhibited()), patience);
  });

  it('still hears of open alerts while Postgres is unavailable', async () => {
    const postgres = await PostgresServer.start();
    await migrate(postgres.url());
    const db = openDatabase(postgres.url());
    try {
      await declare(db);
      await storeAlert(db, transition('opened'));
      await start([alertmanager.url], db);
      const before = await shown('AutomationMissing');
      await postgres.kill();
      await until(
        'the alert is repeated',
        async () => (await alertmanager.alerts()).some(({ endsAt }) => endsAt > before.endsAt),
        patience,
      );
    } finally {
      await Promise.all(senders.splice(0).map((sender) => sender.stop()));
      await db.destroy();
      await postgres.stop();
    }
  });
});
