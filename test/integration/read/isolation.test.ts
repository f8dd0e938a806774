import { expect } from 'chai';
import { anEvent } from '../../support/events.ts';
import { readToken } from '../../support/console.ts';
import { readOpenApi, type OpenApiDocument } from '../../support/openapi.ts';
import { readEndpoints, requestOf, type ReadEndpoint } from '../../support/read-requests.ts';
import { suiteConsole } from '../../support/reading.ts';
import { StreamReader } from '../../support/stream-reader.ts';

const own = anEvent().automationId;
const foreign = '0190a0b0-0000-7000-8000-0000000000ff';

/** In each text and id of the other organization. */
const secret = 'globex-secret';

describe('isolation between organizations', () => {
  const suite = suiteConsole();
  let document: OpenApiDocument;
  before(async () => {
    document = await readOpenApi({ dereferenced: true });
  });

  /** Values of the other organization for each parameter: ids, texts, cursors and positions. */
  async function foreignValues(): Promise<Map<string, string>> {
    const events = Array.from({ length: 3 }, (_, index) => ({
      organization: 'globex',
      automationId: index === 2 ? foreign.replace('ff', 'fe') : foreign,
      executionId: `${secret} run ${index}`,
      kind: 'ERROR' as const,
      description: secret,
      errorId: `${secret} error ${index}`,
      errorDescription: secret,
      createdAt: Date.now() - 1_000 * index,
    }));
    using reader = await StreamReader.open(suite.console.port, { organization: 'globex' });
    await suite.store(...events);
    await reader.until('an event', () => reader.descriptions.length > 0);
    const headers = { token: readToken('globex') };
    const exported = await suite.client.send({ path: '/v1/export/events', headers });
    const event = JSON.parse(exported.body.split('\n')[0] ?? '') as { created_at: string; id: string };
    return new Map([
      ['automation_id', foreign],
      ['execution_id', `${secret} run 0`],
      ['error_id', `${secret} error 0`],
      ['q', secret],
      ['after', `${event.created_at},${event.id}`],
      ['Last-Event-ID', reader.lastEventId],
      ['kind', 'ERROR'],
      ['state', 'failed'],
      ['limit', '1'],
    ]);
  }

  /** The cursor that the other organization gets for the same parameters. */
  async function foreignCursor(
    endpoint: ReadEndpoint,
    values: ReadonlyMap<string, string>,
  ): Promise<string | undefined> {
    const request = requestOf(endpoint, values);
    const answer = await suite.client.send({ ...request, headers: { ...request.headers, token: readToken('globex') } });
    return answer.json<{ next_cursor?: string | null }>().next_cursor ?? undefined;
  }

  it('holds at every endpoint for every parameter: 400 or 404, or nothing of the other', async () => {
    await suite.store({
      automationId: own,
      executionId: 'own',
      description: 'own',
      kind: 'ERROR',
      createdAt: Date.now(),
    });
    const values = await foreignValues();
    let requests = 0;
    for (const endpoint of readEndpoints(document)) {
      const names = endpoint.parameters.map(({ name }) => name);
      const inPath = endpoint.parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
      const page = new Map([...values].filter(([name]) => [...inPath, 'limit'].includes(name) && names.includes(name)));
      const cursor = names.includes('cursor') && inPath.length === 0 ? await foreignCursor(endpoint, page) : undefined;
      const selections = [
        ...names.map((name) => [...inPath, name]),
        names.filter((name) => name !== 'cursor'),
        ...(cursor === undefined ? [] : [['limit', 'cursor']]),
      ];
      for (const selection of selections) {
        const given = new Map(selection.map((name) => [name, (name === 'cursor' ? cursor : values.get(name)) ?? '']));
        const request = requestOf(endpoint, new Map([...given].filter(([, value]) => value !== '')));
        if (endpoint.path === '/v1/stream/' && !given.has('Last-Event-ID')) continue;
        const answer = await suite.client.send(request);
        const all = `${answer.body} ${JSON.stringify(answer.headers)}`;
        const what = `${request.path} ${JSON.stringify(request.headers)} → ${answer.status} ${all}`;
        requests += 1;
        expect([200, 400, 404], what).to.include(answer.status);
        expect(all.includes(secret) || all.includes(foreign), what).to.equal(false);
        if (inPath.length > 0) expect(answer.status, what).to.equal(404);
        if (given.has('Last-Event-ID')) expect(answer.status, what).to.equal(400);
        if (given.get('cursor')) expect(answer.status, what).to.equal(400);
      }
    }
    expect(requests).to.be.greaterThan(30);
  });

  it('holds for ids that both organizations use', async () => {
    const shared = { executionId: 'shared', createdAt: Date.now() };
    await suite.store({ ...shared, description: 'own' }, { ...shared, organization: 'globex', description: secret });
    const path = `/v1/executions/${own}/shared/`;
    const execution = (await suite.client.send({ path })).json<{ counts: { EVENT: number } }>();
    expect(execution.counts.EVENT).to.equal(1);
    for (const address of [
      `${path}events/`,
      '/v1/events/?execution_id=shared',
      '/v1/export/events?execution_id=shared',
    ]) {
      const { body } = await suite.client.send({ path: address });
      expect(body).to.contain('"own"').and.to.not.contain(secret);
    }
  });
});
