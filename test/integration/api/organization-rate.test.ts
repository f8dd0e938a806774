import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Answer, Request } from '../../support/api-client.ts';
import { inBothModes } from '../../support/api-modes.ts';
import { eventBody } from '../../support/events.ts';
import { expectProblem } from '../../support/problem.ts';
import type { Authentication } from '../../../internal/cluster/tokens/token-source.ts';

/** A token is `<scope> <organization>`; globex has no limit of its own. */
function authenticate(given: string): Authentication {
  const [scope, organization = ''] = given.split(' ');
  const tokenId = given.replace(' ', '-');
  const rate = organization === 'globex' ? { rate: 0 } : {};
  return { status: 'known', organization, scope: scope === 'ping' ? 'ping' : 'write', tokenId, ...rate };
}

inBothModes('ORGANIZATION_RATE', ({ suiteIngest }) => {
  const suite = suiteIngest(() => ({ ORGANIZATION_RATE: '2' }), authenticate);

  const send = (organization: string, request: Request): Promise<Answer> =>
    suite.ingest.client.send({
      method: 'POST',
      ...request,
      headers: { token: `write ${organization}`, ...request.headers },
    });
  const json = (path: string, body: unknown, type = 'application/json'): Request => ({
    path,
    headers: { 'content-type': type },
    body: JSON.stringify(body),
  });
  const cloudEvent = {
    specversion: '1.0',
    type: 'dev.runledger.start',
    source: 'test',
    id: '1',
    data: { automation_id: randomUUID(), execution_id: '1' },
  };
  const bulk = json(
    '/v1/register/bulk/',
    Array.from({ length: 500 }, () => eventBody()),
  );
  const waysIn: Record<string, (organization: string) => Promise<Answer>> = {
    register: (organization) => send(organization, json('/v1/register/', eventBody())),
    bulk: (organization) => send(organization, bulk),
    cloudevents: (organization) =>
      send(organization, json('/v1/cloudevents/', cloudEvent, 'application/cloudevents+json')),
    lineage: (organization) => send(organization, json('/api/v1/lineage', {})),
    'lineage-batch': (organization) => send(organization, json('/api/v1/lineage/batch', [])),
    ping: (organization) =>
      send(organization, {
        path: `/ping/${encodeURIComponent(`ping ${organization}`)}/${randomUUID()}`,
        headers: { token: undefined },
      }),
  };

  for (const [name, request] of Object.entries(waysIn)) {
    it(`${name}: takes no event of an organization beyond its rate, and says when to repeat the request`, async () => {
      // 500 events pass at once, and take what is free for the next four minutes.
      expect((await send(name, bulk)).status).to.equal(201);
      const before = await suite.stored();
      const answer = await request(name);
      expectProblem(answer, 429, 'too-many-requests');
      const { 'retry-after': wait, ratelimit, 'ratelimit-policy': policy } = answer.headers;
      expect(Number(wait)).to.be.within(200, 250);
      expect([ratelimit, policy]).to.deep.equal([`"organization";r=0;t=${wait}`, '"organization";q=2;w=1']);
      expect(await suite.stored()).to.have.lengthOf(before.length);
      const metrics = await suite.ingest.telemetry.registry.metrics();
      expect(metrics).to.include(
        `runledger_organization_limited_requests_total{organization="${name}",process="ingest"} 1\n`,
      );
    });
  }

  const refused: Record<string, [status: number, request: Request]> = {
    'that is not valid': [400, json('/v1/register/', {})],
    'of another type': [415, json('/v1/register/', eventBody(), 'text/plain')],
    'that is too large': [413, json('/v1/register/', eventBody({ description: 'x'.repeat(300_000) }))],
  };
  for (const [what, [status, request]] of Object.entries(refused)) {
    it(`counts a request ${what} as an event`, async () => {
      const organization = `refused-${status}`;
      // At once: the answer to a large body takes about a second, in which the rate allows two
      // more.
      const answers = await Promise.all(Array.from({ length: 6 }, () => send(organization, request)));
      expect(answers.map((answer) => answer.status)).to.include.members([status, status, 429]);
    });
  }

  it('counts each 64 KiB of a body as an event, also if it is refused', async () => {
    const body = `{"facets":"${'x'.repeat(200 * 65_536)}"`;
    const large = { path: '/api/v1/lineage', headers: { 'content-type': 'application/json' }, body };
    expect((await send('large', large)).status).to.equal(400);
    const answer = await send('large', json('/v1/register/', eventBody()));
    expectProblem(answer, 429, 'too-many-requests');
    expect(Number(answer.headers['retry-after'])).to.be.within(80, 110);
  });

  it('does not limit another organization, one whose Secret says so, and the check of a token', async () => {
    await send('acme', bulk);
    expect((await send('acme', { method: 'GET', path: '/v1/ping/' })).status).to.equal(200);
    expect((await waysIn['register']?.('initech'))?.status).to.equal(201);
    for (const _ of [1, 2]) expect((await send('globex', bulk)).status).to.equal(201);
  });
});
