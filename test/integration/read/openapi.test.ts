import { expect } from 'chai';
import { sql } from 'kysely';
import type { AcceptedEvent } from '../../../internal/event/event.ts';
import type { EventKind } from '../../../internal/event/schema.ts';
import type { Answer } from '../../support/api-client.ts';
import { readToken, startConsole } from '../../support/console.ts';
import {
  expectDescribed,
  expectValid,
  readOpenApi,
  type OpenApiDocument,
  type OpenApiOperation,
} from '../../support/openapi.ts';
import { storeAlertOf, storeDeclarationOf } from '../../support/notify/examples.ts';
import { lockRecord, suiteConsole } from '../../support/reading.ts';
import { StreamReader } from '../../support/stream-reader.ts';

/** The endpoints of the read API whose answer is JSON, and the name of what they find. */
const lists = [
  '/v1/executions/',
  '/v1/executions/{automation_id}/{execution_id}/',
  '/v1/executions/{automation_id}/{execution_id}/events/',
  '/v1/events/',
  '/v1/errors/',
  '/v1/alerts/',
];
const windows = ['/v1/automations/', '/v1/automations/{automation_id}/'];

describe('openapi.yaml describes the read API', () => {
  const suite = suiteConsole();
  let document: OpenApiDocument;
  before(async () => {
    document = await readOpenApi({ dereferenced: true });
  });
  const operationOf = (path: string): OpenApiOperation | undefined => document.paths[path]?.['get'];
  const exampleOf = (path: string, type = 'application/json'): unknown =>
    operationOf(path)?.responses['200']?.content?.[type]?.examples?.['found']?.value;

  /** Stores the recorded events of the document's examples, `later` in ms. */
  async function storeExamples(later = 0): Promise<void> {
    const examples = document.paths['/v1/register/']?.['post']?.responses['201']?.content?.['application/json'];
    const events = Object.values(examples?.examples ?? {}).map(({ value }, index) => {
      const recorded = value as Record<string, string>;
      return {
        id: `019c12ac-423${index + 4}-7000-8000-00000000000${index + 1}`,
        automationId: recorded['automation'],
        executionId: recorded['execution_id'],
        kind: recorded['type_of_event'] as EventKind,
        description: recorded['description'],
        errorId: recorded['error_id'],
        errorDescription: recorded['error_description_detail'],
        createdAt: Date.parse(recorded['created_at'] ?? '') + later,
      } as Partial<AcceptedEvent>;
    });
    await suite.store(...events);
    const { db } = suite.database;
    await storeDeclarationOf(db, exampleOf('/v1/automations/'));
    await storeAlertOf(db, exampleOf('/v1/alerts/'));
  }

  /** The address of an endpoint with the example of every parameter that has one. */
  function addressOf(path: string, without: string[] = []): string {
    const given = (operationOf(path)?.parameters ?? []).filter(
      // Either the id or the name.
      ({ name, example }) => example !== undefined && name !== 'automation' && !without.includes(name),
    );
    const query = given.flatMap((parameter) =>
      parameter.in === 'query' ? [`${parameter.name}=${encodeURIComponent(String(parameter.example))}`] : [],
    );
    const filled = given.reduce(
      (address, { name, example }) => address.replace(`{${name}}`, encodeURIComponent(String(example))),
      path,
    );
    return `${filled}?${query.join('&')}`;
  }

  for (const path of lists) {
    it(`200: the examples of the parameters give the example's answer: ${path}`, async () => {
      await storeExamples();
      const answer = await suite.client.send({ path: addressOf(path, ['window']) });
      expect(answer.status, answer.body).to.equal(200);
      expectDescribed(answer, operationOf(path)?.responses['200']);
      expect(answer.json()).to.deep.equal(exampleOf(path));
    });
  }

  for (const path of windows) {
    it(`200: so do windows that end now, but for the times: ${path}`, async () => {
      await storeExamples(Date.now() - Date.parse('2026-01-31T08:03:00Z'));
      const answer = await suite.client.send({ path: addressOf(path) });
      expectDescribed(answer, operationOf(path)?.responses['200']);
      expectValid(operationOf(path)?.responses['200'], exampleOf(path));
      expect(withoutTimes(answer.json())).to.deep.equal(withoutTimes(exampleOf(path)));
    });
  }

  for (const [format, type] of [
    ['ndjson', 'application/x-ndjson'],
    ['csv', 'text/csv'],
  ] as const) {
    it(`200: the export's example, byte for byte: ${format}`, async () => {
      await storeExamples();
      await sql`update events set salt = '\\x8aadd9ea1896418f7231b3a60bb8d059'`.execute(suite.database.db);
      const path = `${addressOf('/v1/export/events/', ['format'])}&format=${format}`;
      const answer = await suite.client.send({ path });
      expectDescribed(answer, operationOf('/v1/export/events/')?.responses['200']);
      expect(answer.body).to.equal(exampleOf('/v1/export/events/', type));
    });
  }

  it('200: a stream', async () => {
    using reader = await StreamReader.open(suite.console.port);
    const [type = ''] = Object.keys(operationOf('/v1/stream/')?.responses['200']?.content ?? {});
    expect(reader.response.headers['content-type']).to.equal(type);
  });

  it('has the parameters that the endpoints take, and no others', async () => {
    for (const path of Object.keys(document.paths).filter((path) => operationOf(path)?.tags?.includes('record'))) {
      const answer = await suite.client.send({ path: `${addressOf(path).split('?')[0]}?unknown=1` });
      const { errors } = answer.json<{ errors: { detail: string }[] }>();
      const [, names = ''] = /^is unknown; use (.*)$/.exec(errors[0]?.detail ?? '') ?? [];
      const documented = (operationOf(path)?.parameters ?? []).filter((parameter) => parameter.in === 'query');
      const expected = documented.map(({ name }) => name);
      expect(names === 'none' ? [] : names.split(', '), path).to.have.members(expected);
    }
  });

  /** How to get each documented problem. The answer must be the example, word for word. */
  const problems: Record<string, () => Promise<Answer>> = {
    '400 malformedParameters': () => suite.client.send({ path: '/v1/automations/?window=1w&limit=501' }),
    '400 foreignCursor': () => suite.client.send({ path: '/v1/automations/?cursor=AAAA' }),
    '403 writeToken': () => suite.client.send({ path: '/v1/automations/', headers: { token: 'write-token-of-acme' } }),
    '404 noAutomation': () => suite.client.send({ path: addressOf('/v1/automations/{automation_id}/') }),
    '429 rate': async () => {
      await using console = await startConsole(suite.database.url, { READ_RATE: '1' });
      const send = () => console.client.send({ path: '/v1/automations/' });
      const answers = await Promise.all(Array.from({ length: 10 }, send));
      return answers.find(({ status }) => status === 429) ?? (await send());
    },
    '429 concurrency': async () => {
      await using console = await startConsole(suite.database.url, { READ_CONCURRENCY: '1' });
      const release = await lockRecord(suite.database);
      const answers = [1, 2].map(() => console.client.send({ path: '/v1/automations/' }));
      const first = await Promise.race(answers);
      await release();
      await Promise.all(answers);
      return first;
    },
    '429 streams': async () => {
      await using console = await startConsole(suite.database.url, { STREAMS_PER_TOKEN: '1' });
      using _open = await StreamReader.open(console.port);
      return await console.client.send({ path: '/v1/stream/' });
    },
    '500 internalError': async () => {
      await sql`alter table executions rename column automation_id to other`.execute(suite.database.db);
      return suite.client.send({ path: '/v1/automations/' });
    },
    '503 away': async () => {
      await using console = await startConsole('postgres://x@127.0.0.1:1/x');
      return await console.client.send({ path: '/v1/automations/' });
    },
    '503 timeout': async () => {
      await using console = await startConsole(suite.database.url, { READ_STATEMENT_TIMEOUT_MS: '500' });
      const release = await lockRecord(suite.database);
      const answer = await console.client.send({ path: '/v1/automations/' });
      await release();
      return answer;
    },
    '503 notLoaded': async () => {
      await using console = await startConsole(suite.database.url, {}, () => ({ status: 'not-loaded' }));
      return await console.client.send({ path: '/v1/automations/', headers: { token: readToken() } });
    },
  };

  for (const [name, provoke] of Object.entries(problems)) {
    it(name, async () => {
      const [status = '', example = ''] = name.split(' ');
      const path = status === '404' ? '/v1/automations/{automation_id}/' : '/v1/automations/';
      const response = operationOf(path)?.responses[status];
      const answer = await provoke();
      expect(String(answer.status), answer.body).to.equal(status);
      expectDescribed(answer, response);
      expect(answer.json()).to.deep.equal(response?.content?.['application/problem+json']?.examples?.[example]?.value);
    });
  }
});

/** A value as text, without its times. */
function withoutTimes(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value).replaceAll(/"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"/g, '"a time"'));
}
