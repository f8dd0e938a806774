import { expect } from 'chai';
import * as fc from 'fast-check';
import { encodeCursor } from '../../../internal/readapi/cursor.ts';
import { startConsole, readToken, type RunningConsole } from '../../support/console.ts';
import { consoleWithoutDatabase, suiteConsole, withParameter, type ListAnswer } from '../../support/reading.ts';
import { storeExpectations } from '../../support/two-organizations.ts';

const automation = '0190a0b0-0000-7000-8000-000000000001';

describe('malformed parameters', () => {
  const suite = consoleWithoutDatabase();

  /** The parameters that a 400 names. */
  async function named(path: string): Promise<string[]> {
    const answer = await suite.client.send({ path });
    expect(answer.status, `${path} ${answer.body}`).to.equal(400);
    expect(answer.headers['content-type']).to.equal('application/problem+json');
    const { type, errors } = answer.json<{ type: string; errors: { parameter: string; detail: string }[] }>();
    expect(type).to.equal('https://runledger.dev/problems/malformed-request');
    for (const { detail } of errors) expect(detail).to.match(/./);
    return errors.map(({ parameter }) => parameter);
  }

  for (const [query, names] of [
    ['colour=red', ['colour']],
    ['State=failed', ['State']],
    ['__proto__=1&constructor=2&toString', ['__proto__', 'constructor', 'toString']],
    ['state=broken&limit=0&automation_id=7', ['state', 'limit', 'automation_id']],
    ['state=failed&state=running', ['state']],
    ['limit=501', ['limit']],
    ['limit=1e2', ['limit']],
    ['limit=', ['limit']],
    ['from=tomorrow', ['from']],
    ['from=2026-02-30', ['from']],
    ['from=0000-01-01', ['from']],
    ['from=999999w', ['from']],
    ['from=24', ['from']],
    ['from=now&to=1h', ['to']],
    ['automation=SAP&automation_id=' + automation, ['automation']],
    ['from=2026-02-30T10:00:00Z', ['from']],
    ['from=2026-02-28T25:00:00Z', ['from']],
    ['from=2026-01-31T08:00:00', ['from']],
    ['from=0000-01-01T00:00:00Z', ['from']],
    ['from=9999-12-31T23:59:59-01:00', ['from']],
    ['from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z', ['to']],
    ['anomaly=odd', ['anomaly']],
    ['has=errors', ['has']],
    ['q=', ['q']],
    [`q=${'x'.repeat(201)}`, ['q']],
    ['q=%00', ['q']],
    ['q=%ff', ['q']],
    ['q=%', ['q']],
    ['execution_id=', ['execution_id']],
    ['cursor=', ['cursor']],
    ['cursor=AAAA', ['cursor']],
    ['cursor=%F0%9F%9A%80', ['cursor']],
    ['token=x', ['token']],
  ] as const) {
    it(`get 400 that names them: ${query.slice(0, 60)}`, async () => {
      expect(await named(`/v1/executions/?${query}`)).to.deep.equal(names);
    });
  }

  it('get 400 at every endpoint', async () => {
    const one = `/v1/executions/${automation}/run`;
    for (const path of ['/v1/automations', `/v1/automations/${automation}`, '/v1/executions', one, `${one}/events`]) {
      expect(await named(`${path}/?colour=red`)).to.deep.equal(['colour']);
    }
    for (const path of ['/v1/events', '/v1/errors'])
      expect(await named(`${path}?colour=red`)).to.deep.equal(['colour']);
    expect(await named('/v1/events/?kind=START,END')).to.deep.equal(['kind']);
    expect(await named('/v1/automations/?window=1w')).to.deep.equal(['window']);
    expect(await named('/v1/automations/?window=367d')).to.deep.equal(['window']);
    expect(await named('/v1/errors/?window=1h&from=2026-01-01T00:00:00Z')).to.deep.equal(['window']);
    expect(await named('/v1/errors/?from=2999-01-01T00:00:00Z')).to.deep.equal(['from']);
  });
});

describe('a cursor', () => {
  const suite = suiteConsole();
  const path = '/v1/executions/?limit=1&from=2026-11-20T00:00:00Z';
  let cursor: string;
  beforeEach(async () => {
    const ids = ['run 1', 'run 2', 'run 3'];
    await suite.store(...ids.map((executionId) => ({ executionId })));
    await suite.store(...ids.map((executionId) => ({ executionId, organization: 'globex' })));
    const first = await suite.client.send({ path });
    cursor = String(first.json<ListAnswer>().next_cursor);
  });
  const statusOf = async (path: string, given = cursor, headers = {}): Promise<number> =>
    (await suite.client.send({ path: withParameter(path, 'cursor', given), headers })).status;

  it('continues with the same filters, in any order, and with another limit', async () => {
    expect(await statusOf(path)).to.equal(200);
    expect(await statusOf('/v1/executions?from=2026-11-20T00%3A00%3A00Z')).to.equal(200);
    expect(await statusOf('/v1/executions/?from=2026-11-20T00:00:00Z&limit=500')).to.equal(200);
  });

  it('continues at another console', async () => {
    await using other: RunningConsole = await startConsole(suite.database.url);
    const there = await other.client.send({ path: withParameter(path, 'cursor', cursor) });
    expect(there.json<ListAnswer>().items.map((item) => item['execution_id'])).to.deep.equal(['run 2']);
  });

  it('gets 400 with other filters, at another endpoint, for another organization, or changed', async () => {
    expect(await statusOf('/v1/executions/')).to.equal(400);
    expect(await statusOf(`${path}&state=running`)).to.equal(400);
    expect(await statusOf('/v1/executions/?from=2026-11-20T00:00:01Z')).to.equal(400);
    expect(await statusOf('/v1/events/?from=2026-11-20T00:00:00Z')).to.equal(400);
    expect(await statusOf(path, cursor, { token: readToken('globex') })).to.equal(400);
    for (const changed of [
      cursor.slice(0, -4),
      cursor.slice(4),
      `AAAA${cursor.slice(4)}`,
      cursor.replaceAll('-', '_') + 'A',
    ]) {
      expect(await statusOf(path, changed), changed).to.equal(400);
    }
  });
});

describe('cursors that nobody got from the API', () => {
  const suite = suiteConsole({ READ_RATE: '100000' });
  const paths = [
    '/v1/automations/',
    '/v1/executions/',
    `/v1/executions/${automation}/run%201/events/`,
    '/v1/events/',
    '/v1/errors/',
    '/v1/alerts/',
  ];
  const forged = (path: string, place: object): string =>
    encodeCursor(place, { endpoint: path.replace(/\/$/, ''), organization: 'acme', filters: '' });

  /** The place in a real cursor of each list. */
  async function realPlaces(): Promise<[path: string, place: Record<string, string>][]> {
    const ids = Array.from({ length: 3 }, (_, index) => `0190a0b0-0000-7000-8000-00000000000${index + 1}`);
    const now = Date.now();
    const events = ids.map((automationId) => ({ automationId, kind: 'ERROR' as const, createdAt: now, errorId: 'E' }));
    await suite.store(...events, ...events);
    await storeExpectations(suite.database.db, 'acme');
    return Promise.all(
      paths.map(async (path): Promise<[string, Record<string, string>]> => {
        const page = (await suite.client.send({ path: withParameter(path, 'limit', '1') })).json<ListAnswer>();
        const bytes = Buffer.from(String(page.next_cursor), 'base64url').subarray(12);
        return [path, JSON.parse(bytes.toString()) as Record<string, string>];
      }),
    );
  }

  const someTime = fc
    .date({ min: new Date(-62135596800000), max: new Date(253402300799999), noInvalidDate: true })
    .map((date) => date.toISOString());
  const someText = fc.oneof(
    someTime,
    fc.constantFrom('0001-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z', '+275760-09-13T00:00:00.000Z', 'a\0'),
    fc.uuid(),
    fc.string({ unit: 'binary' }),
  );
  const someValue = fc.oneof(someText, fc.jsonValue({ maxDepth: 2 }), fc.constant(1e308), fc.constant({}));

  it('get 400 that names the cursor, or an honest page, and never a 5xx', async () => {
    const real = await realPlaces();
    const statuses = new Set<number>();
    const one = fc.tuple(fc.nat(real.length - 1), fc.nat(9), someValue, fc.option(someTime));
    await fc.assert(
      fc.asyncProperty(one, async ([index, field, value, end]) => {
        const [path = '', place = {}] = real[index] ?? [];
        const names = Object.keys(place);
        const name = names[field % names.length] ?? '';
        const cursor = forged(path, { ...place, [name]: value });
        const answer = await suite.client.send({ path: withParameter(path, 'cursor', cursor) });
        const about = `${path} ${name} ${JSON.stringify(value)}: ${answer.body}`;
        expect(answer.status, about).to.be.oneOf(typeof value === 'string' ? [200, 400] : [400]);
        if (answer.status === 400)
          expect(answer.json<{ errors: { parameter: string }[] }>().errors[0]?.parameter, about).to.equal('cursor');
        statuses.add(answer.status);
        if (end === null) return;
        for (const parameter of ['from', 'to']) {
          const ranged = await suite.client.send({ path: withParameter(path, parameter, end) });
          expect(ranged.status, `${path} ${parameter}=${end}: ${ranged.body}`).to.be.oneOf([200, 400]);
        }
      }),
      { numRuns: 500 },
    );
    expect([...statuses].toSorted((a, b) => a - b)).to.deep.equal([200, 400]);
    for (const [path, place] of real) {
      for (const [name, text] of Object.entries(place)) {
        const wrong = /^\d{4}-/.test(text) ? ['0001-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z'] : [];
        for (const value of [...wrong, {}, [text], null, 7, undefined]) {
          const cursor = forged(path, { ...place, [name]: value });
          const { status } = await suite.client.send({ path: withParameter(path, 'cursor', cursor) });
          expect(status, `${path} ${name} ${JSON.stringify(value)}`).to.equal(400);
        }
      }
    }
    for (const query of ['to=0001-01-01T00:00:00Z', 'from=9999-12-31T23:59:59Z', 'error_id=E&to=0001-01-01T00:00:00Z'])
      for (const path of ['/v1/executions/', '/v1/events/', '/v1/errors/', '/v1/export/events/'])
        expect((await suite.client.send({ path: `${path}?${query}` })).status, `${path} ${query}`).to.be.oneOf([
          200, 400,
        ]);
  }).timeout(120_000);
});
