import { expect } from 'chai';
import { anEvent } from '../../support/events.ts';
import { noon, readAll, suiteConsole } from '../../support/reading.ts';

const automation = anEvent().automationId;
const other = '0190A0B0-0000-7000-8000-0000000000FF';

describe('GET /v1/events/', () => {
  const suite = suiteConsole();
  const textsOf = async (query: string): Promise<unknown[]> =>
    (await readAll(suite.client, `/v1/events/${query}`)).map((item) => item['description']);

  it('shows events as they were recorded', async () => {
    const texts = { description: 'one', errorId: 'E', errorDescription: 'long' };
    await suite.store({ automationId: other, kind: 'ERROR', ...texts });
    const [{ id, ...item } = {}] = await readAll(suite.client, '/v1/events/');

    expect(id).to.match(/^[\da-f-]{36}$/);
    expect(item).to.deep.equal({
      automation: other,
      automation_name: null,
      execution_id: 'run 1',
      type_of_event: 'ERROR',
      description: 'one',
      error_id: 'E',
      error_description_detail: 'long',
      occurred_at: null,
      created_at: '2026-11-20T12:00:00.000Z',
    });
  });

  it('has a filter for each question, newest first, and those of an execution oldest first', async () => {
    await suite.store(
      { description: 'one', kind: 'START' },
      { description: 'two', kind: 'ERROR', errorId: 'E' },
      { description: 'three', executionId: 'run 2' },
      { description: 'four', automationId: other, createdAt: noon + 86_400_000, kind: 'ERROR' },
    );
    for (const [query, expected] of [
      ['', ['four', 'three', 'two', 'one']],
      ['?limit=1', ['four', 'three', 'two', 'one']],
      ['?kind=ERROR', ['four', 'two']],
      ['?error_id=E', ['two']],
      ['?error_id=', ['four']],
      [`?automation_id=${automation}`, ['three', 'two', 'one']],
      ['?execution_id=run+2', ['three']],
      [`?execution_id=run+1&automation_id=${automation}&limit=1`, ['one', 'two']],
      ['?from=2026-11-20T12:00:00.002Z', ['four', 'three']],
      ['?to=2026-11-20T12:00:00.002Z', ['two', 'one']],
      ['?q=THREE', ['three']],
    ] as const) {
      expect(await textsOf(query), query).to.deep.equal(expected);
    }
  });

  it('pages a search exactly: more matches in a slice than in a page, and fewer', async () => {
    const texts = Array.from(
      { length: 1_300 },
      (_, index) => `${index % 3 === 0 || index > 900 ? 'some' : 'no'} ${index}`,
    );
    await suite.store(...texts.map((description) => ({ description })));
    const expected = texts.filter((text) => text.startsWith('some')).toReversed();
    for (const limit of [60, 499]) expect(await textsOf(`?q=some&limit=${limit}`)).to.deep.equal(expected);
  });

  it('pages the events of an execution, by either address, while more are added', async () => {
    await suite.store(...Array.from({ length: 12 }, (_, index) => ({ description: String(index) })));
    for (const [path, kind] of [
      [`/v1/executions/${automation}/run%201/events/?limit=5`, ''],
      ['/v1/events/?execution_id=run%201&limit=5&kind=EVENT', 'EVENT'],
    ] as const) {
      const items = await readAll(suite.client, path, () =>
        suite.store({ description: `new ${kind}`, createdAt: noon }),
      );
      const known = items.map((item) => String(item['description'])).filter((text) => !text.startsWith('new'));
      expect(known).to.deep.equal(Array.from({ length: 12 }, (_, index) => String(index)));
    }
    const starts = await readAll(suite.client, `/v1/executions/${automation}/run%201/events/?kind=START`);
    expect(starts).to.deep.equal([]);
  });
});

describe('GET /v1/errors/', () => {
  const suite = suiteConsole();

  it('groups failures by automation and error_id, last seen first', async () => {
    const now = Date.now();
    await suite.store(
      { kind: 'ERROR', errorId: 'A', executionId: 'run 1', createdAt: now - 3_000 },
      { kind: 'ERROR', errorId: 'A', executionId: 'run 2', createdAt: now - 2_000 },
      { kind: 'ERROR', errorId: '', executionId: 'run 3', createdAt: now - 1_000 },
      { kind: 'ERROR', errorId: 'old', createdAt: now - 26 * 3_600_000 },
    );
    const time = (ms: number): string => new Date(ms).toISOString();
    const unnamed = { automation, automation_name: null, error_id: '', count: 1, latest_execution_id: 'run 3' };
    const named = { automation, automation_name: null, error_id: 'A', count: 2, latest_execution_id: 'run 2' };
    const seen = (first: number, last: number) => ({
      first_seen_at: time(now - first),
      last_seen_at: time(now - last),
    });

    expect(await readAll(suite.client, '/v1/errors/?limit=1')).to.deep.equal([
      { ...unnamed, ...seen(1_000, 1_000) },
      { ...named, ...seen(3_000, 2_000) },
    ]);
    expect(await readAll(suite.client, '/v1/errors/?error_id=A')).to.have.lengthOf(1);
    expect(await readAll(suite.client, '/v1/errors/?window=2d')).to.have.lengthOf(3);
    const day = `from=${time(now - 30 * 3_600_000)}&to=${time(now - 20 * 3_600_000)}`;
    expect(await readAll(suite.client, `/v1/errors/?automation_id=${automation}&${day}`)).to.have.lengthOf(1);
    const answer = (await suite.client.send({ path: '/v1/errors/?window=1h' })).json<{ from: string; to: string }>();
    expect(Date.parse(answer.to) - Date.parse(answer.from)).to.equal(3_600_000);
  });

  it('says when errors happened, and continues after an error_id of any length', async () => {
    const now = Date.now();
    const ids = ['A', 'B', 'C'].map((letter) => letter.repeat(20_000));
    const happened = now - 2 * 3_600_000;
    await suite.store(
      ...ids.map((errorId) => ({ kind: 'ERROR' as const, errorId, createdAt: now, occurredAt: happened })),
    );
    const items = await readAll(suite.client, '/v1/errors/?limit=1');
    expect(items.map((item) => item['error_id'])).to.have.members(ids);
    const time = new Date(happened).toISOString();
    for (const item of items) expect(item).to.include({ first_seen_at: time, last_seen_at: time });
    expect(await readAll(suite.client, '/v1/errors/?window=1h')).to.deep.equal([]);
  });
});

describe('GET /v1/automations/', () => {
  const suite = suiteConsole();

  it('shows each automation with its last execution and its figures, also one by one', async () => {
    const now = Date.now();
    await suite.store(
      { kind: 'START', executionId: 'run 1', createdAt: now - 5_000 },
      { kind: 'END', executionId: 'run 1', createdAt: now - 4_000 },
      { kind: 'ERROR', executionId: 'run 2', createdAt: now - 3_000 },
      { kind: 'START', executionId: 'old', createdAt: now - 48 * 3_600_000 },
      { kind: 'START', automationId: other, createdAt: now - 40 * 3_600_000 },
    );
    const items = await readAll(suite.client, '/v1/automations/?limit=1');
    expect(items.map((item) => item['automation'])).to.deep.equal([automation, other.toLowerCase()]);
    expect(items[0]).to.nested.include({ 'last_execution.execution_id': 'run 2', 'window.p50_ms': 1_000 });
    expect(items[0]?.['window']).to.deep.include({ counts: { running: 0, succeeded: 1, failed: 1 } });

    const wide = await suite.client.send({ path: `/v1/automations/${automation}/?window=3d` });
    expect(wide.json()['executions']).to.have.lengthOf(3);
    expect(wide.json()).to.nested.include({ 'window.counts.running': 1 });
    expect(wide.json<{ series: object[] }>().series.length).to.be.at.least(1);
    const days = await suite.client.send({ path: `/v1/automations/${automation}/?window=30d` });
    const [point] = days.json<{ series: { at: string }[] }>().series;
    expect(point?.at).to.match(/T00:00:00\.000Z$/);
  });

  it('shows the same automations and figures with any limit, in pages of at most 50', async () => {
    const now = Date.now();
    const id = (number: number): string => `0190a0b0-0000-7000-8000-${String(number).padStart(12, '0')}`;
    const ids = Array.from({ length: 60 }, (_, index) => id((index * 7) % 60));
    await suite.store(...ids.map((automationId) => ({ automationId, createdAt: now - 5_000 })));
    const figures = async (limit: number) =>
      (await readAll(suite.client, `/v1/automations/?limit=${limit}`)).map(({ automation, window }) => ({
        automation,
        counts: (window as { counts: unknown }).counts,
      }));
    const counts = { running: 1, succeeded: 0, failed: 0 };
    const expected = ids.toSorted().map((automation) => ({ automation, counts }));
    for (const limit of [7, 500]) expect(await figures(limit)).to.deep.equal(expected);
    const first = await suite.client.send({ path: '/v1/automations/?limit=500' });
    expect(first.json<{ items: unknown[] }>().items).to.have.lengthOf(50);
  });
});
