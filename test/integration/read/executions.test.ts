import { expect } from 'chai';
import { anEvent } from '../../support/events.ts';
import { declare } from '../../support/notify/expectations.ts';
import { noon, readAll, suiteConsole, type SomeEvent } from '../../support/reading.ts';
import { StreamReader } from '../../support/stream-reader.ts';

const automation = anEvent().automationId;
const other = '0190a0b0-0000-7000-8000-0000000000ff';
const hour = 3_600_000;

describe('GET /v1/executions/', () => {
  const suite = suiteConsole();
  const idsOf = async (query: string): Promise<unknown[]> =>
    (await readAll(suite.client, `/v1/executions/${query}`)).map((item) => item['execution_id']);

  it('shows executions newest first, with their state, times, counts and anomalies', async () => {
    await suite.store({ kind: 'START' }, { kind: 'ERROR' }, { kind: 'END' }, { executionId: 'run 2', kind: 'EVENT' });
    const answer = await suite.client.send({ path: '/v1/executions/' });

    expect(answer.status, answer.body).to.equal(200);
    expect(answer.headers['content-type']).to.match(/^application\/json/);
    expect(answer.headers['cache-control']).to.equal('private, no-cache');
    const { items, next_cursor } = answer.json<{ items: object[]; next_cursor: null }>();
    expect(next_cursor).to.equal(null);
    expect(items).to.have.lengthOf(2);
    expect(items[0]).to.include({ execution_id: 'run 2', state: 'running' });
    expect(items[1]).to.deep.equal({
      automation,
      automation_name: null,
      execution_id: 'run 1',
      state: 'failed',
      first_event_at: '2026-11-20T12:00:00.000Z',
      last_event_at: '2026-11-20T12:00:00.002Z',
      started_at: '2026-11-20T12:00:00.000Z',
      failed_at: '2026-11-20T12:00:00.001Z',
      ended_at: '2026-11-20T12:00:00.002Z',
      duration_ms: 2,
      counts: { START: 1, EVENT: 0, WARNING: 0, ERROR: 1, END: 1 },
      anomalies: [],
    });
  });

  it('has a filter for each question', async () => {
    await suite.store(
      { executionId: 'running', kind: 'START' },
      { executionId: 'ended', kind: 'END', createdAt: noon + hour },
      { executionId: 'failed', kind: 'ERROR', errorId: 'E 1', createdAt: noon + 2 * hour, description: 'Disk FULL' },
      { executionId: 'warned', automationId: other, kind: 'WARNING', createdAt: noon + 3 * hour },
      { executionId: 'no id', kind: 'ERROR', errorId: '', createdAt: noon + 4 * hour },
    );
    for (const [query, expected] of [
      ['?state=running', ['warned', 'running']],
      ['?state=succeeded', ['ended']],
      ['?state=failed', ['no id', 'failed']],
      [`?automation_id=${other}`, ['warned']],
      [`?automation_id=${other.toUpperCase()}`, ['warned']],
      ['?execution_id=no+id', ['no id']],
      ['?execution_id=no%20id', ['no id']],
      ['?from=2026-11-20T15:00:00Z', ['no id', 'warned']],
      ['?from=2026-11-20T16:00:00%2B01:00', ['no id', 'warned']],
      ['?from=2026-11-20T16:00:00%2B0100', ['no id', 'warned']],
      ['?from=2026-11-20T16:00:00+01:00', ['no id', 'warned']],
      ['?to=2026-11-20t13:00:00.000z', ['running']],
      ['?from=2026-11-20T13:00:00Z&to=2026-11-20T14:00:00Z', ['ended']],
      ['?error_id=E+1', ['failed']],
      ['?error_id=', ['no id']],
      ['?anomaly=start_missing&state=succeeded', ['ended']],
      ['?has=warning', ['warned']],
      ['?q=disk+full', ['failed']],
      ['?q=warn', ['warned']],
      ['?q=100%25', []],
    ] as const) {
      expect(await idsOf(query), query).to.deep.equal(expected);
    }
  });

  it('pages to the end without a gap or a repeat while executions are added', async () => {
    const before = Array.from({ length: 23 }, (_, index) => `run ${index}`);
    await suite.store(...before.map((executionId, index) => ({ executionId, createdAt: noon + (index >> 2) })));
    let added = 0;
    const add = (): Promise<unknown> => {
      added += 1;
      const late: SomeEvent = { executionId: `late ${added}`, createdAt: noon + 2, kind: 'START' };
      return suite.store({ executionId: `new ${added}`, createdAt: noon + hour }, late, { executionId: 'run 3' });
    };

    const items = await readAll(suite.client, '/v1/executions/?limit=5', add);
    const ids = items.map((item) => String(item['execution_id']));

    expect(added).to.be.at.least(4);
    expect(new Set(ids).size).to.equal(ids.length);
    expect(ids.filter((id) => id.startsWith('run')).toSorted()).to.deep.equal(before.toSorted());
    expect(ids.filter((id) => id.startsWith('new'))).to.deep.equal([]);
  });

  it('links to the next page under the public address', async () => {
    await suite.store({ executionId: 'run 1' }, { executionId: 'run 2' });
    const answer = await suite.client.send({ path: '/v1/executions/?limit=1&has=warning' });
    expect(answer.headers.link).to.equal(undefined);
    const first = await suite.client.send({ path: '/v1/executions?limit=1&from=2026-11-20T12:00:00Z' });
    const [, address = ''] = /^<(.*)>; rel="next"$/.exec(String(first.headers.link)) ?? [];
    const url = new URL(address);
    expect(url.origin).to.equal('https://console.example');

    const second = await suite.client.send({ path: url.pathname + url.search });
    expect(second.headers.link).to.equal(undefined);
    const executions = [...first.json<{ items: object[] }>().items, ...second.json<{ items: object[] }>().items];
    expect(executions.map((item) => 'execution_id' in item && item.execution_id)).to.deep.equal(['run 2', 'run 1']);
  });
});

describe('GET /v1/executions/{automation_id}/{execution_id}/', () => {
  const suite = suiteConsole();
  const plain = ['a/b', '100%', '%2F', 'with space', '\u{1F680} Ü', '+', '?x=1&y#z', 'events', '\u{1F680}'.repeat(255)];
  const odd = ['%2e', '%2E%2e', '...', '../x', '/', '//', 'x/', ' x', 'x ', '\n', '\t', '\\', ';', '\u00a0', '\u202e'];
  const ids = [...plain, ...odd];

  it('finds an execution by any id, percent-encoded', async () => {
    await suite.store(...ids.map((executionId) => ({ executionId, description: executionId })));
    for (const id of ids) {
      const path = `/v1/executions/${automation.toUpperCase()}/${encodeURIComponent(id)}`;
      // As browsers and clients normalize it.
      expect(new URL(path, 'https://runledger.example').pathname).to.equal(path);
      for (const address of [path, `${path}/`]) {
        const answer = await suite.client.send({ path: address });
        expect(answer.status, address).to.equal(200);
        expect(answer.json()).to.include({ automation, execution_id: id, state: 'running' });
        const events = await suite.client.send({ path: `${address.replace(/\/$/, '')}/events` });
        expect(events.json<{ items: object[] }>().items[0], address).to.include({ description: id });
        const listed = await suite.client.send({ path: `/v1/executions/?execution_id=${encodeURIComponent(id)}` });
        expect(listed.json<{ items: object[] }>().items).to.deep.equal([answer.json()]);
      }
    }
  });

  it('answers 404 for an execution or automation that does not exist', async () => {
    await suite.store({ executionId: 'run 1' });
    for (const path of [
      `/v1/executions/${other}/run%201/`,
      `/v1/executions/${automation}/run%202/`,
      `/v1/executions/${automation}/run%202/events/`,
      `/v1/automations/${other}/`,
    ]) {
      const answer = await suite.client.send({ path });
      expect(answer.status, path).to.equal(404);
      expect(answer.json()['type']).to.equal('https://runledger.dev/problems/not-found');
    }
  });

  it('names each malformed id with 400', async () => {
    for (const [path, names] of [
      ['/v1/executions/7/run/', ['automation_id']],
      ['/v1/executions/7/%ff/', ['automation_id', 'execution_id']],
      [`/v1/executions/${automation}/%00/`, ['execution_id']],
      [`/v1/executions/${automation}/%zz/events/`, ['execution_id']],
      [`/v1/executions/${automation}/${'x'.repeat(501)}/`, ['execution_id']],
      ['/v1/automations/%C3%28/', ['automation_id']],
    ] as const) {
      const answer = await suite.client.send({ path });
      expect(answer.status, path).to.equal(400);
      const { errors } = answer.json<{ errors: { parameter: string }[] }>();
      expect(errors.map(({ parameter }) => parameter)).to.deep.equal(names);
    }
  });
});

describe('automations by their names', () => {
  const suite = suiteConsole();
  const id = (last: number): string => `0190a0b0-0000-7000-8000-00000000000${last}`;
  const [sap, twin, another] = [id(1), id(2), id(3)] as const;
  const idsIn = async (path: string): Promise<unknown[]> =>
    (await readAll(suite.client, path)).map((item) => [item['automation'], item['automation_name']]);

  beforeEach(async () => {
    const now = Date.now();
    await declare(suite.database.db, {
      automationId: sap,
      name: 'sap-upload',
      displayName: 'SAP Überträge',
      tags: ['night'],
    });
    await declare(suite.database.db, { automationId: twin, name: 'twin', displayName: 'Twin' });
    await suite.store(
      ...[sap, twin, another].map((automationId, index) => ({
        automationId: automationId.toUpperCase(),
        executionId: `run ${index}`,
        kind: 'ERROR' as const,
        createdAt: now - (3 - index) * 1_000,
      })),
    );
  });

  it('are in every list, one by one, and in the stream', async () => {
    const named = [
      [another, null],
      [twin, 'Twin'],
      [sap, 'SAP Überträge'],
    ];
    for (const path of ['/v1/executions/', '/v1/errors/']) expect(await idsIn(path), path).to.deep.equal(named);
    const events = (await idsIn('/v1/events/')) as [string, unknown][];
    expect(events.map(([id, name]) => [id.toLowerCase(), name])).to.deep.equal(named);
    expect(await idsIn('/v1/automations/')).to.deep.equal(named.toReversed());
    for (const path of [`/v1/executions/${sap}/run%200/`, `/v1/automations/${sap}/`])
      expect((await suite.client.send({ path })).json(), path).to.include({ automation_name: 'SAP Überträge' });
    expect(await idsIn(`/v1/executions/${sap}/run%200/events/`)).to.have.lengthOf(1);
    using reader = await StreamReader.open(suite.console.port);
    await suite.store({ automationId: sap, description: 'now', createdAt: Date.now() });
    await reader.until('the event', () => reader.descriptions.includes('now'));
    for (const kind of ['event', 'execution'])
      expect(reader.messages.find(({ event }) => event === kind)?.data).to.include({
        automation_name: 'SAP Überträge',
      });
  });

  it('are filters, in any letter case; no name and one of several get 400', async () => {
    for (const list of ['executions', 'errors', 'events', 'automations'])
      for (const name of ['sap u\u0308bertra\u0308ge', 'SAP-Upload', 'acme-automations/sap-upload', sap]) {
        const found = (await idsIn(`/v1/${list}/?automation=${encodeURIComponent(name)}`)) as [string][];
        expect(
          found.map(([id]) => id.toLowerCase()),
          `${list} ${name}`,
        ).to.deep.equal([sap]);
      }
    for (const list of ['executions', 'errors', 'events', 'automations']) {
      for (const [query, ids] of [
        ['owner=BILLING&tag=Night', [sap]],
        ['owner=billing', [sap, twin]],
        [`tag=night&automation_id=${twin}`, []],
        ['tag=day', []],
      ] as const) {
        const found = (await idsIn(`/v1/${list}/?${query}`)) as [string][];
        expect(
          found.map(([id]) => id.toLowerCase()),
          `${list} ${query}`,
        ).to.have.members(ids);
      }
    }
    expect((await suite.client.send({ path: '/v1/alerts/?owner=billing' })).status).to.equal(200);
    const exported = await suite.client.send({ path: '/v1/export/events/?automation=twin' });
    expect(exported.body.trim().split('\n')).to.have.lengthOf(1);
    expect(exported.body.toLowerCase()).to.include(twin);
    const refused = async (name: string): Promise<string> => {
      const answer = await suite.client.send({ path: `/v1/alerts/?automation=${encodeURIComponent(name)}` });
      expect(answer.status).to.equal(400);
      const [error] = answer.json<{ errors: { parameter: string; detail: string }[] }>().errors;
      expect(error?.parameter).to.equal('automation');
      return error?.detail ?? '';
    };
    expect(await refused('SAP')).to.equal('is the name of no automation: give its name in full, or its id');
    const ids = Array.from({ length: 7 }, (_, index) => `0190a0b0-0000-7000-8000-0000000000a${index}`);
    for (const [index, automationId] of ids.entries())
      await declare(suite.database.db, { automationId, name: `same-${index}`, displayName: 'Same' });
    expect(await refused('same')).to.equal(
      `is the name of 7 automations, give an id: ${ids.slice(0, 5).join(', ')}, and 2 more`,
    );
  });

  it('take times relative to now, and dates in UTC', async () => {
    const now = Date.now();
    const begin = new Date(now).toISOString().slice(0, 10);
    const [midnight, day] = [Date.parse(begin), 24 * hour];
    await suite.store(
      { executionId: 'yesterday', createdAt: midnight - 1 },
      { executionId: 'old', createdAt: now - 8 * day },
    );
    const date = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
    const since = async (query: string) =>
      (await readAll(suite.client, `/v1/executions/${query}`)).map((item) => item['execution_id']);
    expect(await since('?from=9d&to=7d')).to.deep.equal(['old']);
    expect(await since('?from=2w&to=180h')).to.deep.equal(['old']);
    expect(await since('?from=yesterday&to=today&limit=1')).to.deep.equal(['yesterday']);
    expect(await since(`?from=${date(midnight - day)}&to=${begin}`)).to.deep.equal(['yesterday']);
    expect(await since('?from=1m&to=now')).to.have.lengthOf(3);
    expect(await since('?to=9d')).to.deep.equal([]);
  });
});
