import { expect } from 'chai';
import { sql } from 'kysely';
import type { Answer, Request } from '../../support/api-client.ts';
import { readToken } from '../../support/console.ts';
import { readEndpoints, requestOf, type Given, type ReadEndpoint } from '../../support/read-requests.ts';
import { suiteConsole, type SuiteConsole } from '../../support/reading.ts';
import type { TestDatabase } from '../../support/store.ts';
import { StreamReader } from '../../support/stream-reader.ts';
import { until } from '../../support/until.ts';
import {
  eventsOf,
  expectNothingForeign,
  forgedCursor,
  foreignValues,
  recordOf,
  sharedAutomation,
  sharedExecution,
  sharedIds,
  storeExpectations,
  type Organization,
} from '../../support/two-organizations.ts';

/** Values of parameters that lead nowhere by themselves; those with an enum have all its values. */
const harmless: Record<string, string> = {
  limit: '1',
  window: '7d',
  from: '2026-01-01T00:00:00Z',
  to: '2999-01-01T00:00:00Z',
};

/** Parameters whose value belongs to one organization: any other gets 400 or 404. */
const refused = new Set(['cursor', 'Last-Event-ID', 'automation']);
/** Filters that find nothing with a value of another organization. */
const filters = new Set(['automation_id', 'owner', 'tag', 'execution_id', 'error_id', 'q']);

/** A user that may read, and cannot become the reader role: row-level security shows it all. */
async function withoutReaderRole({ db, url }: TestDatabase): Promise<string> {
  const { rows } = await sql`select from pg_roles where rolname = 'plain_reader'`.execute(db);
  if (rows.length === 0) await sql`create role plain_reader login`.execute(db);
  await sql`grant select on events, executions, running_executions, compacted_executions, compacted_keys, automations, channels, alerts, alert_notices, acts,
    deliveries, console_keys, rewritten_events, cold_days, log_trees to plain_reader`.execute(db);
  const address = new URL(url);
  address.username = 'plain_reader';
  return address.href;
}

describe('the record of another organization, behind queries and row-level security', () => {
  isUnreachable(suiteConsole(), 1);
});

describe('the record of another organization, behind queries alone', () => {
  isUnreachable(suiteConsole({}, withoutReaderRole), 0);
});

/** The tests of both locks; `role` is the metric `runledger_reader_role`. */
function isUnreachable(suite: SuiteConsole, role: 0 | 1): void {
  let endpoints: ReadEndpoint[];
  let foreignIds: string[];
  before(async () => {
    endpoints = await readEndpoints();
    expect(endpoints).to.have.length.above(8);
  });
  beforeEach(async () => {
    await store('acme');
    await store('globex');
    await storeExpectations(suite.database.db, 'acme');
    await storeExpectations(suite.database.db, 'globex');
    foreignIds = (await eventsOf(suite, 'globex')).map(({ id }) => id);
  });

  const begin = Date.now() - 60_000;
  const store = (organization: Organization) => suite.store(...recordOf(organization, begin));

  /** Sends a request of acme, and the HEAD of it, and expects nothing of globex in the answers. */
  async function ask(request: Request): Promise<Answer> {
    const [get, head] = [await suite.client.send(request), await suite.client.send({ ...request, method: 'HEAD' })];
    for (const answer of [get, head]) expectNothingForeign(answer, foreignIds, request.path);
    expect(head.status, request.path).to.equal(get.status);
    return get;
  }

  it(`is read ${role === 1 ? 'as' : 'without'} the reader role`, async () => {
    await until('the role', async () => {
      const metrics = await suite.console.telemetry.registry.metrics();
      return metrics.includes(`runledger_reader_role{process="console"} ${role}\n`);
    });
  });

  it('is in no answer, whatever of it a parameter has', async () => {
    for (const endpoint of endpoints) {
      const foreign = await foreignValues(suite, endpoint);
      for (const { name, in: place, schema } of endpoint.parameters) {
        const all = schema.type === 'boolean' ? ['true', 'false'] : schema.enum;
        const values = all ?? [foreign[name] ?? harmless[name]];
        for (const value of values) {
          if (value === undefined) throw new Error(`${endpoint.path}: no value for the parameter ${name}`);
          const others = sharedIds(endpoint).filter(([other]) => other !== name);
          const request = requestOf(endpoint, [...others, [name, value]]);
          const answer = await ask(request);
          const about = `${request.path} ${JSON.stringify(request.headers)}: ${answer.body}`;
          const isOfCsv = name === 'bom' && value === 'true';
          if (place === 'path' || refused.has(name) || isOfCsv) expect(answer.status, about).to.be.oneOf([400, 404]);
          else expect(answer.status, about).to.equal(200);
          if (filters.has(name)) expect(answer.body, about).not.to.match(/acme|shared run/);
        }
      }
    }
  });

  it('is in no answer to all parameters together', async () => {
    for (const endpoint of endpoints) {
      const foreign = await foreignValues(suite, endpoint);
      const given = endpoint.parameters.filter(
        ({ name }) => !['cursor', 'automation'].includes(name) && foreign[name] !== undefined,
      );
      const answer = await ask(
        requestOf(
          endpoint,
          given.map(({ name }) => [name, foreign[name] ?? '']),
        ),
      );
      const inPath = given.some((parameter) => parameter.in === 'path');
      const expected = endpoint.isStream ? 400 : inPath ? 404 : 200;
      expect(answer.status, `${endpoint.path} ${answer.body}`).to.equal(expected);
    }
  });

  it('is in no answer to a cursor that somebody forged from one of it, and a stream id opens nothing', async () => {
    for (const endpoint of endpoints) {
      const { cursor, 'Last-Event-ID': streamId } = await foreignValues(suite, endpoint);
      if (cursor !== undefined) {
        const forged = forgedCursor(endpoint, cursor);
        const answer = await ask(requestOf(endpoint, [...sharedIds(endpoint), ['cursor', forged]]));
        expect(answer.status, `${endpoint.path} ${answer.body}`).to.equal(200);
      }
      if (streamId === undefined) continue;
      const refused = await ask({ path: '/v1/stream/', headers: { 'Last-Event-ID': streamId } });
      expect(refused.status, refused.body).to.equal(400);
      using reader = await StreamReader.open(suite.console.port);
      await store('globex');
      // Each in its execution with the same ids, at once.
      const last = { executionId: sharedExecution, createdAt: Date.now() };
      await suite.store({ ...last, description: 'last' }, { ...last, organization: 'globex' });
      await reader.until('the last event', () => reader.descriptions.includes('last'));
      expectNothingForeign({ headers: {}, body: JSON.stringify(reader.messages) }, foreignIds, endpoint.path);
      const [change] = reader.messages.filter(({ event }) => event === 'execution').slice(-1);
      const { body } = await suite.client.send({ path: `/v1/executions/${sharedAutomation}/shared%20run/` });
      expect(change?.data).to.deep.equal(JSON.parse(body));
    }
  });

  it('leaves no trace in counts, percentiles, pages and order', async () => {
    /** The answers to acme, without the time at which they were made. */
    const answers = async (): Promise<string[]> => {
      const bodies = [];
      for (const endpoint of endpoints.filter(({ isStream }) => !isStream)) {
        const hasPages = endpoint.parameters.some(({ name }) => name === 'limit');
        for (const page of hasPages ? [[], [['limit', '1'] as const]] : [[]]) {
          const { body } = await ask(requestOf(endpoint, [...sharedIds(endpoint), ...page]));
          bodies.push(body.replaceAll(/"(from|to|next_cursor)":"[^"]*"/g, '"$1"'));
        }
      }
      return bodies;
    };
    const older = recordOf('globex', begin - 10_000);
    await suite.store(...older.map((event, index) => ({ ...event, executionId: `globex ${index}` })));
    const beside = await answers();
    for (const table of ['events', 'executions', 'alerts', 'automations'] as const) {
      await suite.database.db.deleteFrom(table).where('organization', '=', 'globex').execute();
    }
    expect(await answers()).to.deep.equal(beside);
  });

  it('needs a token of it, alone', async () => {
    const both = { token: readToken('acme'), authorization: `Bearer ${readToken('globex')}` };
    for (const endpoint of endpoints) {
      const { path } = requestOf(endpoint, sharedIds(endpoint));
      for (const [headers, status] of [
        [both, 401],
        [{ token: readToken('acme').toUpperCase() }, 401],
        [{ token: 'write-token-of-globex' }, 403],
      ] as const) {
        const answer = await ask({ path, headers });
        expect(answer.status, path).to.equal(status);
        expect(answer.body).not.to.contain('acme');
      }
      for (const place of ['token', 'access_token', 'organization']) {
        const given: Given = [...sharedIds(endpoint), [place, readToken('globex')]];
        expect((await ask(requestOf(endpoint, given))).status, path).to.equal(400);
      }
    }
  });
}
