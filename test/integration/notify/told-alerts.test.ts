import { expect } from 'chai';
import { NoticeBook } from '../../../internal/controller/notify/notice-book.ts';
import { alertsToTell } from '../../../internal/controller/notify/told-alerts.ts';
import { declare, storeAlert, transition } from '../../support/notify/expectations.ts';
import { migratedDatabase } from '../../support/store.ts';

describe('the alerts that an Alertmanager must know', () => {
  it('are the open ones, and those that it may still know as open, however long they are over', async () => {
    await using database = await migratedDatabase();
    const { db } = database;
    await declare(db);
    const store = async (occurrence: string, given: Parameters<typeof transition>[1] = {}) => {
      const change = transition('opened', { occurrence, ...given });
      await storeAlert(db, change);
      return change;
    };
    const resolve = ({ alert }: ReturnType<typeof transition>) =>
      storeAlert(db, { ...transition('resolved'), alert: { ...alert, resolvedAt: Date.now() - 90_000_000 } });
    await store('a late start', { kind: 'late', resolvedAt: Date.now() });
    await resolve(await store('ended, never told'));
    await store('open');
    const ended = [await store('ended, told a'), await store('ended, both were told')];
    const book = { a: new NoticeBook(db, 'a'), b: new NoticeBook(db, 'b') };
    const told = async (receiver: 'a' | 'b') => {
      const alerts = await alertsToTell(db, receiver);
      return alerts.map(({ occurrence }) => occurrence).toSorted();
    };
    const tell = async (receiver: 'a' | 'b', problem?: string) => {
      const alerts = await alertsToTell(db, receiver);
      await book[receiver].begin(alerts);
      await book[receiver].end(alerts.map((alert) => ({ alert, problem })));
    };
    await tell('a');
    // Its answer was lost: it may have heard.
    await tell('b', 'no answer');
    for (const change of ended) await resolve(change);
    await tell('a');
    expect(await told('a')).to.deep.equal(['open']);
    expect(await told('b')).to.deep.equal(['ended, both were told', 'ended, told a', 'open']);
    await tell('b');
    expect(await told('b')).to.deep.equal(['open']);
  });
});
