import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import type { AcceptedEvent } from '../../../internal/event/event.ts';
import { inBothModes } from '../../support/api-modes.ts';
import { eventBody } from '../../support/events.ts';
import { RawConnection, registerHead } from '../../support/raw-connection.ts';
import { until } from '../../support/until.ts';

const head = registerHead();

/** With it, the answer 100 tells that the server has begun to read. */
const expecting = [...head, 'Expect: 100-continue'];

inBothModes('a body that says its length', ({ startApi }) => {
  const body = JSON.stringify(eventBody());
  let accepted: AcceptedEvent[];
  const enqueue = (event: AcceptedEvent): Promise<AcceptedEvent> => {
    accepted.push(event);
    return Promise.resolve(event);
  };

  beforeEach(() => {
    accepted = [];
  });

  it('may come in pieces', async () => {
    await using api = await startApi(enqueue);
    using connection = await RawConnection.open(api.port);
    connection.send(...expecting, `Content-Length: ${body.length}`, '', body.slice(0, 20));
    await connection.receives(/ 100 Continue/);
    expect(accepted).to.deep.equal([]);
    connection.send(body.slice(20));
    await connection.receives(/ 201 Created/);
    expect(accepted).to.have.length(1);
  });

  it('may come in one piece, after its head', async () => {
    await using api = await startApi(enqueue);
    using connection = await RawConnection.open(api.port);
    connection.send(...expecting, `Content-Length: ${body.length}`, '', '');
    await connection.receives(/ 100 Continue/);
    connection.send(body);
    await connection.receives(/ 201 Created/);
    expect(accepted).to.have.length(1);
  });

  it('is accepted before what was sent behind it on the connection, however many pieces it comes in', async () => {
    await using api = await startApi(enqueue);
    using connection = await RawConnection.open(api.port);
    const long = JSON.stringify(eventBody({ execution_id: 'long' })) + ' '.repeat(100_000);
    const short = JSON.stringify(eventBody({ execution_id: 'short' }));
    const requests = [long, short].map((sent) => [...head, `Content-Length: ${sent.length}`, '', sent].join('\r\n'));
    connection.send(requests.join(''));
    await connection.receives(/ 201 Created[^]* 201 Created/);
    expect(accepted.map(({ executionId }) => executionId)).to.deep.equal(['long', 'short']);
  });

  it('is accepted before what was sent behind it on the connection, though it has to be decoded', async () => {
    await using api = await startApi(enqueue);
    using connection = await RawConnection.open(api.port);
    const encoded = gzipSync(JSON.stringify(eventBody({ execution_id: 'encoded' })));
    const lines = [...head, 'Content-Encoding: gzip', `Content-Length: ${encoded.length}`, '', ''];
    const behind = [...head, `Content-Length: ${body.length}`, '', body];
    connection.send(Buffer.concat([Buffer.from(lines.join('\r\n')), encoded, Buffer.from(behind.join('\r\n'))]));
    await connection.receives(/ 201 Created[^]* 201 Created/);
    expect(accepted.map(({ executionId }) => executionId === 'encoded')).to.deep.equal([true, false]);
  });

  it('is refused without harm to the request behind it on the connection', async () => {
    await using api = await startApi(enqueue);
    using connection = await RawConnection.open(api.port);
    connection.send(...head, 'Content-Length: 2', '', '{}');
    connection.send(...head, `Content-Length: ${body.length}`, 'Connection: close', '', body);
    const received = await connection.toEnd();
    expect(received.match(/HTTP\/1\.1 \d+/g)).to.deep.equal(['HTTP/1.1 400', 'HTTP/1.1 201']);
    expect(accepted).to.have.length(1);
  });

  it('ends its connection when 64 refused ones of its organization are on their way', async () => {
    await using api = await startApi(enqueue);
    using connections = new DisposableStack();
    const refused = async (token: string): Promise<RawConnection> => {
      const connection = connections.use(await RawConnection.open(api.port));
      connection.send(...registerHead(token), 'Content-Length: 10000000', '', 'x'.repeat(1_000));
      await connection.receives(/ 413 /);
      return connection;
    };
    const first = await Promise.all(Array.from({ length: 64 }, () => refused('hostile')));
    expect(await (await refused('hostile')).toEnd()).to.match(/^Connection: close\r$/m);
    const others = await refused('x');
    for (const connection of [...first, others]) expect(connection.received).to.match(/^Connection: keep-alive\r$/m);
    first[0]?.[Symbol.dispose]();
    await until('there is room for another one', async () => !/: close/.test((await refused('hostile')).received));
  });

  it('is dropped when its connection breaks before its end', async () => {
    await using api = await startApi(enqueue);
    const connection = await RawConnection.open(api.port);
    connection.send(...expecting, `Content-Length: ${body.length}`, '', body.slice(0, 20));
    await connection.receives(/ 100 Continue/);
    connection[Symbol.dispose]();
    const refused = await until('the refusal', () => api.records.find(({ message }) => message === 'request refused'));
    expect(refused.fields).to.include({ reason: 'malformed-request', status: 400 });
    expect(accepted).to.deep.equal([]);
  });
});
