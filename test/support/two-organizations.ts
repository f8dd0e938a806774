import { expect } from 'chai';
import { encodeCursor } from '../../internal/readapi/cursor.ts';
import { randomUUID } from 'node:crypto';
import type { Database } from '../../internal/store/database.ts';
import type { Answer } from './api-client.ts';
import { readToken } from './console.ts';
import { anEvent } from './events.ts';
import { declare, storeAlert, transition } from './notify/expectations.ts';
import { requestOf, type Given, type ReadEndpoint } from './read-requests.ts';
import type { SomeEvent, SuiteConsole } from './reading.ts';
import { StreamReader } from './stream-reader.ts';

/** The organization that reads, and the one whose record it must not see. */
export type Organization = 'acme' | 'globex';

/** An automation of both, with an execution of the same id. */
export const sharedAutomation = anEvent().automationId;
export const sharedExecution = 'shared run';

/** An automation of one of them. In the order of ids, that of globex is the first. */
export const ownAutomation = {
  acme: '0190a0b0-0000-7000-8000-00000000000a',
  globex: '0190a0b0-0000-6000-8000-00000000000b',
} as const;

/** Events of an organization. Its name is in each text; times and shared ids are those of both. */
export function recordOf(organization: Organization, begin: number): SomeEvent[] {
  const executions = [
    [sharedAutomation, sharedExecution],
    [sharedAutomation, `${organization} run/1 %`],
    [ownAutomation[organization], sharedExecution],
  ] as const;
  return executions.flatMap(([automationId, executionId], execution) =>
    (['START', 'WARNING', 'ERROR', 'ERROR', 'END'] as const).map((kind, index) => ({
      organization,
      automationId,
      executionId,
      kind,
      description: `description of ${organization}`,
      ...(kind === 'ERROR' && { errorId: `${organization}-${index}`, errorDescription: `stack of ${organization}` }),
      createdAt: begin + execution * 10 + index,
    })),
  );
}

/** Declares the shared automation, with two alerts and their notices. */
export async function storeExpectations(db: Database, organization: Organization): Promise<void> {
  await declare(db, {
    organization,
    automationId: sharedAutomation,
    name: `bot of ${organization}`,
    owner: organization,
    tags: [`tag of ${organization}`],
  });
  for (const opened of [1_000, 2_000]) {
    const alert = {
      organization,
      automationId: sharedAutomation,
      reason: `reason of ${organization}`,
      openedAt: opened,
    };
    const change = transition('opened', { ...alert, occurrence: String(opened), id: randomUUID() });
    await storeAlert(db, change);
    await db
      .insertInto('alert_notices')
      .values({ alert_id: change.alert.id, organization, receiver: `receiver of ${organization}` })
      .execute();
  }
}

/** The path parameters of an endpoint that lead to what both organizations have. */
export function sharedIds({ parameters }: ReadEndpoint): Given {
  const ids: Record<string, string> = { automation_id: sharedAutomation, execution_id: sharedExecution };
  return parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => [name, ids[name] ?? '']);
}

/**
 * Values that lead to the record of globex, by the name of their parameter. Reads them as globex:
 * ids, and the cursor, stream id and ETag of the endpoint.
 */
export async function foreignValues(suite: SuiteConsole, endpoint: ReadEndpoint): Promise<Record<string, string>> {
  const headers = { token: readToken('globex') };
  const [event] = await eventsOf(suite, 'globex');
  const values = {
    automation_id: ownAutomation.globex,
    automation: 'bot of globex',
    owner: 'globex',
    tag: 'tag of globex',
    execution_id: 'globex run/1 %',
    error_id: 'globex-2',
    q: 'globex',
    after: `${event?.created_at},${event?.id}`,
  };
  if (endpoint.isStream) {
    using reader = await StreamReader.open(suite.console.port, { organization: 'globex' });
    return { ...values, 'Last-Event-ID': reader.lastEventId };
  }
  const hasPages = endpoint.parameters.some(({ name }) => name === 'cursor');
  const given: Given = [...sharedIds(endpoint), ...(hasPages ? [['limit', '1'] as const] : [])];
  const answer = await suite.client.send({ path: requestOf(endpoint, given).path, headers });
  expect(answer.status, endpoint.path).to.equal(200);
  const cursor = hasPages ? { cursor: answer.json<{ next_cursor: string }>().next_cursor } : {};
  return { ...values, ...cursor, 'If-None-Match': answer.headers.etag ?? '*' };
}

/** The events of an organization as it reads them itself. */
export async function eventsOf(
  { client }: SuiteConsole,
  organization: Organization,
): Promise<{ id: string; created_at: string }[]> {
  const answer = await client.send({ path: '/v1/events/', headers: { token: readToken(organization) } });
  return answer.json<{ items: { id: string; created_at: string }[] }>().items;
}

/**
 * The cursor that acme could make by hand from one of globex, with some fields of its place
 * changed.
 */
export function forgedCursor(endpoint: ReadEndpoint, cursor: string, change: object = {}): string {
  const address = requestOf(endpoint, sharedIds(endpoint)).path.replace(/\/$/, '');
  const scope = { endpoint: address, organization: 'acme', filters: '' };
  return encodeCursor({ ...placeOf(cursor), ...change }, scope);
}

/** The place in a cursor, after its digest. */
export function placeOf(cursor: string): object {
  return JSON.parse(Buffer.from(cursor, 'base64url').subarray(12).toString()) as object;
}

/** Expects that nothing of an answer to acme is of the record of globex. */
export function expectNothingForeign(
  { headers, body }: Pick<Answer, 'headers' | 'body'>,
  foreign: readonly string[],
  request: string,
): void {
  const everything = `${JSON.stringify(headers)} ${body}`.toLowerCase();
  const found = ['globex', ownAutomation.globex, ...foreign].filter((text) => everything.includes(text));
  expect(found, `${request}: ${body.slice(0, 500)}`).to.deep.equal([]);
}
