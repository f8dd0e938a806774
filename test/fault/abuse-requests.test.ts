import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { ApiClient } from '../support/api-client.ts';
import { System, token } from '../support/fault/system.ts';
import { exchange } from '../support/raw-connection.ts';

describe('abuse of requests', () => {
  const automation_id = randomUUID();
  let system: System;
  let port: number;

  before(async () => {
    system = await System.start();
    port = system.pod('ingest-1').apiPort;
  });

  after(() => system.stop());

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

  for (const [name, bytes] of Object.entries(attacks)) {
    it(`${name}: 400, the connection is closed, nothing is stored`, async () => {
      expect(statusesOf(await exchange(port, bytes))).to.deep.equal([400]);
      expect(await stored()).to.deep.equal([]);
    });
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

  it('pipelined requests are answered in order, each by itself', async () => {
    const request = (id: string, ...headers: string[]): string =>
      post(event(id), [`Content-Length: ${event(id).length}`, ...headers]);
    const broken = post('{', ['Content-Length: 1']);
    const last = request('three', 'Connection: close');
    const received = await exchange(port, request('one') + broken + request('two') + last);
    expect(statusesOf(received)).to.deep.equal([201, 400, 201, 201]);
    expect([...received.matchAll(/"execution_id":"(\w+)"/g)].map((match) => match[1])).to.deep.equal([
      'one',
      'two',
      'three',
    ]);
    expect(await stored()).to.have.members(['one', 'two', 'three']);
  });

  it('oversized headers: 431, in one or in many', async () => {
    const one = post(good, [`Content-Length: ${good.length}`, `X-Large: ${'x'.repeat(20_000)}`]);
    const many = post(good, [
      `Content-Length: ${good.length}`,
      ...Array.from({ length: 3_000 }, (_, index) => `X-${index}: y`),
    ]);
    for (const bytes of [one, many]) expect(statusesOf(await exchange(port, bytes))).to.deep.equal([431]);
  });

  it('a token anywhere but in its header is no token', async () => {
    const client = new ApiClient(`http://127.0.0.1:${port}`, { 'x-forwarded-proto': 'https' });
    const body = JSON.stringify({ automation_id, execution_id: 'elsewhere', event: 'START', token });
    const query = await client.send({
      method: 'POST',
      path: `/v1/register/?token=${token}`,
      headers: { 'content-type': 'application/json' },
      body,
    });
    const elsewhere: Record<string, string>[] = [
      { cookie: `token=${token}` },
      { authorization: `Bearer ${token}` },
      { 'x-token': token },
      { tokens: token },
      { 'proxy-authorization': token },
    ];
    const answers = [query, await client.register(body)];
    for (const headers of elsewhere) answers.push(await client.register(body, headers));
    client.close();
    expect(answers.map(({ status }) => status)).to.deep.equal(answers.map(() => 401));
    expect(await stored()).to.not.include('elsewhere');
  });

  it('none of it brought a process down', () => {
    expect(system.crashes).to.equal(0);
  });
});

/** The status of each answer, in order. */
function statusesOf(received: string): number[] {
  return [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1]));
}
