import { expect } from 'chai';
import * as fc from 'fast-check';
import type { Answer, Request } from '../../support/api-client.ts';
import { readEndpoints, type ReadEndpoint } from '../../support/read-requests.ts';
import { nasty, nastyRequests, someRequest, type RequestMaterial } from '../../support/random-requests.ts';
import { suiteConsole } from '../../support/reading.ts';
import {
  eventsOf,
  expectNothingForeign,
  foreignValues,
  forgedCursor,
  ownAutomation,
  placeOf,
  recordOf,
  sharedAutomation,
  sharedExecution,
  storeExpectations,
} from '../../support/two-organizations.ts';

const requests = 4_000;
const atOnce = 20;

describe('random requests to the read API', () => {
  // Limits and time-outs would answer in place of the endpoints.
  const suite = suiteConsole({ READ_RATE: '100000', STREAMS_PER_TOKEN: '10000', READ_STATEMENT_TIMEOUT_MS: '60000' });

  it(`get no 5xx, no undocumented status and nothing of another organization: ${requests}`, async () => {
    const begin = Date.now() - 60_000;
    for (const organization of ['acme', 'globex'] as const) {
      await suite.store(...recordOf(organization, begin));
      await storeExpectations(suite.database.db, organization);
    }
    const foreignIds = (await eventsOf(suite, 'globex')).map(({ id }) => id);
    const materials: RequestMaterial[] = [];
    for (const endpoint of await readEndpoints()) materials.push(await materialOf(endpoint));

    const statuses: Record<number, number> = {};
    const sendAll = async (given: readonly Request[]): Promise<void> => {
      const answers = await Promise.all(given.map((request) => suite.client.send(request)));
      for (const [index, answer] of answers.entries()) {
        check(given[index] ?? { path: '' }, answer, foreignIds);
        statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
      }
    };
    const systematic = materials.flatMap(nastyRequests);
    for (let index = 0; index < systematic.length; index += atOnce) {
      await sendAll(systematic.slice(index, index + atOnce));
    }
    const batch = fc.array(someRequest(materials), { minLength: atOnce, maxLength: atOnce });
    const numRuns = Math.max(20, Math.ceil((requests - systematic.length) / atOnce));
    await fc.assert(fc.asyncProperty(batch, sendAll), { numRuns });
    console.log(`      ${JSON.stringify(statuses)}`);
    expect(statuses).to.include.all.keys('200', '400', '401', '403', '404', '405');
  }).timeout(60_000 + requests * 20);

  /** Ids, cursors and stream ids of both organizations, and forged cursors. */
  async function materialOf(endpoint: ReadEndpoint): Promise<RequestMaterial> {
    const foreign = await foreignValues(suite, endpoint);
    const known: Record<string, string[]> = {
      automation_id: [sharedAutomation, ...Object.values(ownAutomation)],
      execution_id: [sharedExecution, 'acme run/1 %'],
    };
    for (const [name, value] of Object.entries(foreign)) known[name] = [...(known[name] ?? []), value];
    const { cursor } = foreign;
    if (cursor !== undefined) {
      const changes = Object.keys(placeOf(cursor)).flatMap((field) => nasty.map((text) => ({ [field]: text })));
      known['cursor'] = [cursor, ...[{}, ...changes].map((change) => forgedCursor(endpoint, cursor, change))];
    }
    return { endpoint, known };
  }
});

function check({ method, path, headers }: Request, answer: Answer, foreignIds: readonly string[]): void {
  const about = `${method} ${path} ${JSON.stringify(headers)}`;
  expect(answer.status, `${about}: ${answer.body}`).to.be.oneOf([200, 400, 401, 403, 404, 405]);
  // An error names parameters as the request has them.
  const body = answer.body.replaceAll(/"parameter":"(?:[^"\\]|\\.)*"/g, '');
  expectNothingForeign({ ...answer, body }, foreignIds, about);
  if (answer.status < 400 || method === 'HEAD') return;
  const problem = answer.json<{ status: number; errors?: { detail: string }[] }>();
  expect(problem.status, about).to.equal(answer.status);
  if (answer.status === 400) expect(problem.errors, about).to.have.length.above(0);
}
