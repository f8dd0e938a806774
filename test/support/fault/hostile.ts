import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';

/**
 * A process that sends the same large body again and again: `node hostile.ts PORT TOKEN KIND`,
 * until it is killed. Prints how often each status was answered.
 */
const [port, token, kind = ''] = process.argv.slice(2);
const mebi = 1_024 * 1_024;

interface Attack {
  path: string;
  connections: number;
  body: () => string;
  type?: string;
  /** Sends this part of the body only, and then cuts the connection. */
  cutAfter?: number;
}

const run = { runId: randomUUID() };
const job = { namespace: 'hostile', name: 'job' };
const eventTime = new Date().toISOString();
const event = { automation_id: randomUUID(), execution_id: 'hostile', event: 'EVENT' };

function lineage(facets: string): string {
  return JSON.stringify({ eventType: 'START', eventTime, run: { ...run, facets: '?' }, job }).replace('"?"', facets);
}

function bulk(count: number, text: string): string {
  return JSON.stringify(Array.from({ length: count }, () => ({ ...event, description: text })));
}

const attacks: Record<string, Attack> = {
  'small tokens': {
    path: '/api/v1/lineage',
    connections: 24,
    body: () =>
      lineage(
        `[${Array(30 * mebi)
          .fill(1)
          .join(',')}]`,
      ),
  },
  'small tokens, cut': {
    path: '/api/v1/lineage',
    connections: 24,
    body: () =>
      lineage(
        `[${Array(2 * mebi)
          .fill(1)
          .join(',')}]`,
      ),
    cutAfter: 3 * mebi,
  },
  'equal characters': {
    path: '/api/v1/lineage/batch',
    connections: 8,
    body: () => {
      const facets = { errorMessage: { message: 'x'.repeat(100_000) } };
      const fail = (index: number) => ({ eventType: 'FAIL', eventTime, run: { runId: `${index}`, facets }, job });
      return JSON.stringify(Array.from({ length: 500 }, (_, index) => fail(index)));
    },
  },
  'two bytes a character': {
    path: '/v1/register/bulk/',
    connections: 64,
    body: () => bulk(240, `✓${'x'.repeat(8_000)}`),
  },
  'many values': {
    path: '/v1/register/bulk/',
    connections: 64,
    body: () => JSON.stringify([{ ...event, extra: '?' }]).replace('"?"', `[${Array(49_000).fill('{}').join(',')}]`),
  },
  'many lines': {
    path: '/v1/register/bulk/',
    connections: 32,
    type: 'application/x-ndjson',
    body: () => '\n'.repeat(2 * mebi),
  },
};

const attack = attacks[kind];
if (attack === undefined) throw new Error(`no attack is called ${kind}`);
const { path, connections, body, type = 'application/json', cutAfter } = attack;
const bytes = Buffer.from(body());
const agent = new Agent({ keepAlive: true, maxSockets: connections });
const headers = { token, 'x-forwarded-proto': 'https', 'content-type': type, 'content-length': bytes.length };
const statuses: Record<string, number> = {};

function count(status: number | string): void {
  statuses[status] = (statuses[status] ?? 0) + 1;
}

function send(): void {
  const outgoing = request({ port, host: '127.0.0.1', agent, method: 'POST', path, headers }, (response) => {
    count(response.statusCode ?? 0);
    response.resume().once('end', send);
  });
  outgoing.once('error', () => {
    count('cut');
    setImmediate(send);
  });
  if (cutAfter === undefined) outgoing.end(bytes);
  else outgoing.write(bytes.subarray(0, cutAfter), () => outgoing.destroy());
}

for (let index = 0; index < connections; index += 1) send();
setInterval(() => console.log(JSON.stringify(statuses)), 500);
