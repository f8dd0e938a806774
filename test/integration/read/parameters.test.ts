import { expect } from 'chai';
import { startConsole, readToken, type RunningConsole } from '../../support/console.ts';
import { consoleWithoutDatabase, suiteConsole, withParameter, type ListAnswer } from '../../support/reading.ts';

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
    ['from=yesterday', ['from']],
    ['from=2026-01-31', ['from']],
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
