import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

/**
 * An organization that means harm: sends one kind of body over and over, over so many connections,
 * until it is killed.
 *   hostile.ts --kind KIND --port PORT --token TOKEN
 */
const { values } = parseArgs({
  options: {
    kind: { type: 'string', default: '' },
    port: { type: 'string', default: '' },
    token: { type: 'string', default: '' },
  },
});

interface Attack {
  connections: number;
  path: string;
  body: () => Buffer;
}

const mib = 1_024 * 1_024;

/** The end of a text that fills the body up to a size, in bytes. */
function filled(start: string, end: string, size: number, unit: string): Buffer {
  const left = size - Buffer.byteLength(start + end);
  return Buffer.from(start + unit.repeat(Math.floor(left / Buffer.byteLength(unit))) + end);
}

const attacks: Record<string, Attack> = {
  /** Many small tokens, which take long to parse. */
  tokens: {
    connections: 8,
    path: '/api/v1/lineage',
    body: () => filled('{"eventType":"OTHER","facets":[', '1]}', 60 * mib, '1,'),
  },
  /** Texts that compress to nothing, and are large again in the worker. */
  expanding: {
    connections: 4,
    path: '/api/v1/lineage/batch',
    body: () => Buffer.from(`[${Array.from({ length: 480 }, failure).join()}]`),
  },
  /** Texts of one byte a character on the wire and two in memory. */
  wide: {
    connections: 16,
    path: '/v1/register/bulk/',
    body: () => Buffer.from(`[${Array.from({ length: 200 }, wideEvent).join()}]`),
  },
};

function failure(_: unknown, index: number): string {
  const runId = `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
  const facets = { errorMessage: { message: 'a'.repeat(100_000), programmingLanguage: 'SQL' } };
  const run = { runId, facets };
  return JSON.stringify({
    eventType: 'FAIL',
    eventTime: new Date().toISOString(),
    run,
    job: { namespace: 'a', name: 'b' },
  });
}

function wideEvent(_: unknown, index: number): string {
  const description = `✓${'a'.repeat(9_900)}`;
  const automation_id = '00000000-0000-4000-8000-00000000000a';
  return JSON.stringify({ automation_id, execution_id: `wide ${index}`, event: 'EVENT', description });
}

/** Sends one request. Resolves when the server has answered, or closed. */
function send(head: string, body: Buffer): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const socket = connect(Number(values.port), '127.0.0.1');
  socket.on('error', () => undefined);
  socket.on('close', () => resolve());
  socket.once('data', () => socket.destroy());
  socket.write(head);
  socket.write(body);
  return promise;
}

const attack = attacks[values.kind];
if (attack === undefined) throw new Error(`no attack ${values.kind}; there are ${Object.keys(attacks).join(', ')}`);
const body = attack.body();
const head = [
  `POST ${attack.path} HTTP/1.1`,
  'Host: runledger.example',
  'X-Forwarded-Proto: https',
  'Content-Type: application/json',
  `Authorization: Bearer ${values.token}`,
  `Content-Length: ${body.length}`,
  '\r\n',
].join('\r\n');

async function repeat(): Promise<never> {
  for (;;) {
    await send(head, body);
    // It ignores Retry-After, but connects no faster than a person would write such a loop.
    await sleep(20);
  }
}

console.log('attacks');
await Promise.all(Array.from({ length: attack.connections }, repeat));
