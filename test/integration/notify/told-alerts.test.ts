import { expect } from 'chai';
import { alertsToTell } from '../../../internal/notify/told-alerts.ts';
import { declare, storeAlert, transition } from '../../support/notify/expectations.ts';
import { migratedDatabase } from '../../support/store.ts';

const minuteMs = 60_000;
const ago = (minutes: number): Date => new Date(Date.now() - minutes * minuteMs);

describe('the alerts that Alertmanager must know', () => {
  it('are the open ones, and those that ended, until it has known so for five minutes, declared or not', async () => {
    await using database = await migratedDatabase();
    const { db } = database;
    await declare(db);
    const store = async (
      occurrence: string,
      { resolved, kind = 'missing' }: { resolved?: Date; kind?: 'missing' | 'late' },
      notice?: { first_told_at?: Date; resolved_told_at?: Date },
    ): Promise<void> => {
      const change = transition(resolved === undefined ? 'opened' : 'resolved', {
        occurrence,
        kind,
        openedAt: ago(3_000).getTime(),
        resolvedAt: resolved?.getTime(),
      });
      await storeAlert(db, change);
      if (notice === undefined) return;
      const row = { alert_id: change.alert.id, organization: 'acme', receiver: 'alertmanager a', ...notice };
      await db.insertInto('alert_notices').values(row).execute();
    };
    const told = { first_told_at: ago(2_900) };
    await store('open', {});
    await store('ended, told before', { resolved: ago(10) }, told);
    await store('knows of the end since 4 min', { resolved: ago(10) }, { ...told, resolved_told_at: ago(4) });
    await store('knows of the end since 6 min', { resolved: ago(10) }, { ...told, resolved_told_at: ago(6) });
    await store('ended, never told', { resolved: ago(10) }, {});
    await store('ended yesterday', { resolved: ago(1_500) }, told);
    await store('a late start', { resolved: ago(1), kind: 'late' }, told);
    // A receiver that heard of the beginning hears of the end, with the same labels.
    await db.deleteFrom('automations').execute();
    const occurrences = (await alertsToTell(db)).map(({ occurrence }) => occurrence);
    expect(occurrences).to.have.members(['open', 'ended, told before', 'knows of the end since 4 min']);
  });
});
