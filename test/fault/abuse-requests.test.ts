import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { sharedSystem } from '../support/fault/shared-system.ts';
import type { System } from '../support/fault/system.ts';
import { token } from '../support/fault/tokens.ts';
import { exchange } from '../support/raw-connection.ts';

describe('abuse of requests', () => {
  const automation_id = randomUUID();
  let system: System;
  let port: number;

  before(async () => {
    system = await sharedSystem();
    port = system.pod('ingest-1').apiPort;
  });

  const event = (execution_id: string): string => JSON.stringify({ automation_id, execution_id, event: 'START' });

  function post(body: string, headers: string[], before = ['X-Forwarded-Proto: https', `token: ${token}`]): string {
    const common = ['POST /v1/register/ HTTP/1.1', 'Host: x', 'Content-Type: application/json'];
    return [...common, ...before, ...headers, '', body].join('\r\n');
  }

  /** The execution ids that reached Postgres. */
  async function stored(): Promise<string[]> {
    await system.drained();
    const rows = await system.query<{ execution_id: string }>(
      'select execution_id from events where automation_id = $1',
      [automation_id],
    );
    return rows.map(({ execution_id }) => execution_id);
  }

  const smuggled = post(event('smuggled'), [`Content-Length: ${event('smuggled').length}`]);
  const chunked = (...lines: string[]) => post(lines.join('\r\n'), ['Transfer-Encoding: chunked']);
  const good = event('front');
  const size = good.length.toString(16);
  const attacks: Record<string, string> = {
    'Content-Length and Transfer-Encoding': post(`0\r\n\r\n${smuggled}`, [
      'Content-Length: 5',
      'Transfer-Encoding: chunked',
    ]),
    'Transfer-Encoding and Content-Length': post(`0\r\n\r\n${smuggled}`, [
      'Transfer-Encoding: chunked',
      'Content-Length: 5',
    ]),
    'two different Content-Lengths': post(good + smuggled, [
      `Content-Length: ${good.length}`,
      `Content-Length: ${good.length + smuggled.length}`,
    ]),
    'Content-Length with a sign': post(good + smuggled, [`Content-Length: +${good.length}`]),
    'Content-Length as a list': post(good + smuggled, [`Content-Length: ${good.length}, ${good.length}`]),
    'a negative Content-Length': post(smuggled, ['Content-Length: -1']),
    'an unknown Transfer-Encoding': post(`${size}\r\n${good}\r\n0\r\n\r\n${smuggled}`, ['Transfer-Encoding: xchunked']),
    'chunked not last': post(`${size}\r\n${good}\r\n0\r\n\r\n${smuggled}`, ['Transfer-Encoding: chunked, identity']),
    'a space before the colon': post(good + smuggled, [`Content-Length : ${good.length}`]),
    'a folded header': post(`0\r\n\r\n${smuggled}`, [
      'X-A: b\r\n Transfer-Encoding: chunked',
      'Transfer-Encoding:\r\n chunked',
      'Content-Length: 5',
    ]),
    'a chunk size that is no number': chunked('zz', good, '0', '', smuggled),
    'a negative chunk size': chunked('-1', good, '0', '', smuggled),
    'a chunk size past all bounds': chunked('FFFFFFFFFFFFFFFFF', good, '0', '', smuggled),
    'a chunk longer than it says': chunked('5', good, '0', '', smuggled),
    'chunks ended by bare LF': post(`${size}\n${good}\n0\n\n${smuggled}`, ['Transfer-Encoding: chunked']),
    'a NUL in a header': post(good, [`Content-Length: ${good.length}`, 'X-A: a\0b']),
    'a bare CR in a header': post(good, [`Content-Length: ${good.length}`, 'X-A: a\rTransfer-Encoding: chunked']),
  };

  for (const path of ['/v1/register/', '/v1/register/bulk/', '/v1/register/bulk/?partial=true']) {
    for (const [name, bytes] of Object.entries(attacks)) {
      it(`${path}, ${name}: 400, the connection is closed, nothing is stored`, async () => {
        const moved = bytes.replaceAll('POST /v1/register/ ', `POST ${path} `);
        expect(statusesOf(await exchange(port, moved))).to.deep.equal([400]);
        expect(await stored()).to.deep.equal([]);
      });
    }
  }

  it('a body after a request without one is no request', async () => {
    const ping = (...headers: string[]): string =>
      ['GET /v1/ping/ HTTP/1.1', 'Host: x', 'X-Forwarded-Proto: https', `token: ${token}`, ...headers, '', ''].join(
        '\r\n',
      );
    const bytes = ping(`Content-Length: ${smuggled.length}`) + smuggled + ping('Connection: close');
    expect(statusesOf(await exchange(port, bytes))).to.deep.equal([200, 200]);
    expect(await stored()).to.deep.equal([]);
  });

  it('none of it brought a process down', () => {
    expect(system.crashes).to.equal(0);
  });
});

/** The status of each answer, in order. */
function statusesOf(received: string): number[] {
  return [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1]));
}
