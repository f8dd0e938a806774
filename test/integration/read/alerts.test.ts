import { expect } from 'chai';
import { declare, invoices, storeAlert, transition } from '../../support/notify/expectations.ts';
import { noon, readAll, suiteConsole } from '../../support/reading.ts';

const other = '5e0c2f0e-98b1-4a57-8d7f-6a3d1c0b7e22';

describe('GET /v1/alerts/', () => {
  const suite = suiteConsole();

  const store = async (count: number): Promise<void> => {
    for (let index = 0; index < count; index += 1) {
      const kind = index % 2 === 0 ? 'missing' : 'failing';
      const automationId = index % 3 === 0 ? other : invoices;
      const openedAt = noon + Math.floor(index / 2) * 1_000;
      const resolved = index % 4 === 0 && { resolvedAt: openedAt + 500, resolvedReason: 'It started.' };
      await storeAlert(
        suite.database.db,
        transition('opened', { kind, automationId, openedAt, ...resolved, occurrence: String(index) }),
      );
    }
  };

  const occurrences = (items: Record<string, unknown>[]): number[] => items.map(({ occurrence }) => Number(occurrence));

  it('lists the alert that opened last first, page by page', async () => {
    await store(10);
    const items = await readAll(suite.client, '/v1/alerts/?limit=3');
    const times = items.map(({ opened_at }) => String(opened_at));
    expect(occurrences(items).sort((a, b) => a - b)).to.deep.equal([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(times).to.deep.equal(times.toSorted().toReversed());
  });

  it('filters by automation, kind, and whether they are open', async () => {
    await store(12);
    for (const [query, wanted] of [
      [`automation_id=${other}`, (index: number) => index % 3 === 0],
      [`automation_id=${invoices.toUpperCase()}`, (index: number) => index % 3 !== 0],
      ['kind=failing', (index: number) => index % 2 === 1],
      ['open=true', (index: number) => index % 4 !== 0],
      ['open=false', (index: number) => index % 4 === 0],
      [`open=true&kind=missing&automation_id=${invoices}`, (index: number) => index % 4 === 2 && index % 3 !== 0],
    ] as const) {
      const found = occurrences(await readAll(suite.client, `/v1/alerts/?limit=5&${query}`));
      const all = Array.from({ length: 12 }, (_, index) => index);
      expect(
        found.sort((a, b) => a - b),
        query,
      ).to.deep.equal(all.filter(wanted));
    }
  });

  it('says who was told about an alert, and when', async () => {
    const { db } = suite.database;
    const { alert } = transition('opened', { openedAt: noon });
    await storeAlert(db, { ...transition('opened'), alert });
    const notice = { alert_id: alert.id, organization: 'acme', receiver: 'alertmanager http://am-1:9093' };
    await db
      .insertInto('alert_notices')
      .values({ ...notice, first_told_at: new Date(noon + 4_000), last_error: 'ECONNREFUSED' })
      .execute();
    const [item] = await readAll(suite.client, '/v1/alerts/');
    expect(item).to.deep.equal({
      id: alert.id,
      automation: invoices,
      automation_name: null,
      kind: 'missing',
      occurrence: alert.occurrence,
      reason: 'Nothing started at 02:30.',
      facts: alert.facts,
      opened_at: '2026-11-20T12:00:00.000Z',
      resolved_at: null,
      resolved_reason: null,
      acknowledged: null,
      notices: [
        {
          receiver: 'alertmanager http://am-1:9093',
          told_at: '2026-11-20T12:00:04.000Z',
          resolved_told_at: null,
          error: 'ECONNREFUSED',
        },
      ],
    });
  });

  it('refuses wrong filters', async () => {
    const answer = await suite.client.send({ path: '/v1/alerts/?kind=gone&open=yes' });
    expect(answer.status).to.equal(400);
    expect(answer.json<{ errors: { parameter: string }[] }>().errors.map(({ parameter }) => parameter)).to.deep.equal([
      'kind',
      'open',
    ]);
  });
});

describe('the declaration of an automation', () => {
  const suite = suiteConsole();

  const declarations = async (): Promise<unknown[]> => {
    const items = await readAll(suite.client, '/v1/automations/');
    const { body } = await suite.client.send({ path: `/v1/automations/${invoices}/` });
    return [items.at(0)?.['declaration'], (JSON.parse(body) as Record<string, unknown>)['declaration']];
  };

  it('is null for one that nobody declared', async () => {
    await suite.store({ automationId: invoices });
    expect(await declarations()).to.deep.equal([null, null]);
  });

  it('has its names, links, expectations and verdicts', async () => {
    await suite.store({ automationId: invoices });
    await declare(suite.database.db, { expect: { every: '1h' } });
    const verdict = {
      kind: 'missing',
      occurrence: 'x',
      reason: 'Nothing started.',
      facts: {},
      since: '2026-11-20T12:00:00.000Z',
    };
    await suite.database.db
      .updateTable('automations')
      .set({
        declared_at: new Date(noon),
        evaluated_at: new Date(noon),
        verdict: JSON.stringify([verdict]),
      })
      .execute();
    const declaration = {
      namespace: 'acme-automations',
      name: 'nightly-invoices',
      display_name: 'Nightly invoices',
      owner: 'billing',
      links: [{ title: 'Runbook', url: 'https://wiki.acme.example/invoices' }],
      expect: { every: '1h' },
      alert_labels: { severity: 'page', team: 'billing' },
      suspend: false,
      tags: [],
      declared: true,
      note: null,
      declared_at: '2026-11-20T12:00:00.000Z',
      evaluated_at: '2026-11-20T12:00:00.000Z',
      verdicts: [verdict],
    };
    expect(await declarations()).to.deep.equal([declaration, declaration]);
  });

  it('is there without any execution, so that one sees what never ran', async () => {
    await declare(suite.database.db, { expect: { every: '1h' } });
    const [item] = await readAll(suite.client, '/v1/automations/');
    const { body } = await suite.client.send({ path: `/v1/automations/${invoices}/` });
    const detail = JSON.parse(body) as Record<string, unknown>;
    for (const automation of [item, detail]) {
      expect(automation).to.deep.include({ automation: invoices, last_execution: null });
      expect(automation).to.have.nested.property('declaration.display_name', 'Nightly invoices');
      expect(automation).to.have.nested.property('window.counts.failed', 0);
    }
    expect(detail).to.deep.include({ executions: [], series: [] });
  });

  it('has no verdicts while it is suspended', async () => {
    await suite.store({ automationId: invoices });
    await declare(suite.database.db);
    await suite.database.db.updateTable('automations').set({ suspend: true, verdict: '[]' }).execute();
    const [declaration] = await declarations();
    expect((declaration as { verdicts: unknown }).verdicts).to.equal(null);
  });
});
