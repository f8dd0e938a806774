import { expect } from 'chai';
import { AlertmanagerServer } from '../../support/notify/alertmanager-server.ts';
import { declare, storeAlert, transition } from '../../support/notify/expectations.ts';
import { patience, resolved, suiteAlertmanager } from '../../support/notify/suite-alertmanager.ts';
import { until } from '../../support/until.ts';

describe('Alertmanager', () => {
  const suite = suiteAlertmanager();
  const { database, start, shown, notified, noticesOf } = suite;

  it('resolves an alert when it is resolved, and the record says who was notified when', async () => {
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
      receiver: `alertmanager ${suite.alertmanager.url}`,
      last_error: null,
    });
    expect(notice.first_told_at).to.be.instanceOf(Date);
  });

  it('gets the end of an alert once, and open ones repeatedly', async () => {
    await declare(database.db);
    const ended = transition('opened', { occurrence: 'ended' });
    await storeAlert(database.db, ended);
    await storeAlert(database.db, transition('opened', { kind: 'failing' }));
    const sender = await start();
    await shown('AutomationMissing');
    await storeAlert(database.db, resolved(ended));
    sender.announce(undefined, true);
    await until('it hears of the end', async () => (await noticesOf(ended)).every((row) => row.resolved_told_at));
    const before = await suite.alertmanager.received('firing');
    await until(
      'it hears of the other one',
      async () => (await suite.alertmanager.received('firing')) > before + 3,
      patience,
    );
    // One is the end of a blindness, which another process may have told.
    expect(await suite.alertmanager.received('resolved')).to.equal(2);
    expect((await suite.alertmanager.alerts()).map(({ labels }) => labels['alertname'])).to.deep.equal([
      'AutomationFailing',
    ]);
  });

  it('gets the end of an alert that a killed controller sent, even if it is no longer declared', async () => {
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
    await until('one is left', async () => (await suite.alertmanager.alerts()).length === 1, patience);
    // Nobody has decided yet that the other one is over.
    await shown('AutomationFailing');
  });

  it('gets the end under the labels that it knows, and the alert under new ones', async () => {
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
      async () => (await suite.alertmanager.alerts()).map(({ labels }) => labels['severity']).join(' ') === 'ticket',
      patience,
    );
  });

  it('gets the end even if it hung meanwhile, and delays no other Alertmanager', async () => {
    const other = await AlertmanagerServer.start(suite.people.url);
    try {
      await declare(database.db);
      const opened = transition('opened');
      await storeAlert(database.db, opened);
      const sender = await start({ urls: [suite.alertmanager.url, other.url], timings: { timeoutMs: 2_000 } });
      await shown('AutomationMissing');
      await shown('AutomationMissing', other);
      other.freeze();
      const hung = await until('a request has no answer', async () =>
        (await noticesOf(opened)).find((row) => row.last_error !== null),
      );
      await storeAlert(database.db, resolved(opened));
      sender.announce(undefined, true);
      await until(
        'the first one hears of the end',
        async () => (await suite.alertmanager.alerts()).length === 0,
        patience,
      );
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

  it('gets the alerts of all organizations although it refuses those of one', async () => {
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

  it('resolves a blindness as soon as it is over, whichever process sent it', async () => {
    const blind = { since: Date.now() - 60_000, reason: 'Redis does not answer.' };
    await declare(database.db);
    await storeAlert(database.db, transition('opened'));
    const first = await start({ blind });
    const inhibited = async () =>
      (await suite.alertmanager.alerts()).some(({ status }) => status.inhibitedBy.length > 0);
    await until('the alert is inhibited', inhibited, patience);
    first.announce(undefined, false);
    await until('the alert counts again', async () => !(await inhibited()), patience);
    expect((await suite.alertmanager.alerts()).map(({ labels }) => labels['alertname'])).to.deep.equal([
      'AutomationMissing',
    ]);
    first.announce(blind, false);
    await until('the alert is inhibited again', inhibited, patience);
    await first.stop();
    await start();
    await until('the alert counts again', async () => !(await inhibited()), patience);
  });
});
