import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import type { AcceptedEvent } from '../../../internal/event/event.ts';
import { inBothModes } from '../../support/api-modes.ts';
import { ApiClient } from '../../support/api-client.ts';
import { eventBody } from '../../support/events.ts';
import { failureOf } from '../../support/failure.ts';
import { RawConnection, registerHead } from '../../support/raw-connection.ts';
import { until } from '../../support/until.ts';

/** An `enqueue` whose commits a test releases. */
function heldEnqueue() {
  const held: (() => void)[] = [];
  const enqueue = (event: AcceptedEvent): Promise<AcceptedEvent> =>
    new Promise((resolve) => {
      held.push(() => resolve(event));
    });
  return { held, enqueue };
}

function rawRegister(body = JSON.stringify(eventBody())): string {
  return [...registerHead(), `Content-Length: ${Buffer.byteLength(body)}`, '', body].join('\r\n');
}

const ping = 'GET /v1/ping/ HTTP/1.1\r\nHost: x\r\nToken: x\r\nX-Forwarded-Proto: https\r\n\r\n';

inBothModes('graceful stop', ({ startApi }) => {
  it('answers the requests under way, each with Connection: close, and takes no connection more', async () => {
    const { held, enqueue } = heldEnqueue();
    await using api = await startApi(enqueue);
    const client = new ApiClient(`http://127.0.0.1:${api.port}`, api.headers);
    const answers = [client.register(eventBody()), client.register(eventBody())];
    await until('both under way', () => held.length === 2 || undefined);

    const stopped = api.server.stop();
    const refused = await failureOf(once(connect(api.port, '127.0.0.1'), 'connect'));
    expect(refused, 'a connection while it stops').to.include({ code: 'ECONNREFUSED' });
    for (const release of held) release();

    for (const answer of await Promise.all(answers)) {
      expect(answer.status).to.equal(201);
      expect(answer.headers.connection).to.equal('close');
    }
    await stopped;
    client.close();
  });

  it('closes idle connections at once', async () => {
    await using api = await startApi((event) => Promise.resolve(event));
    using idle = await RawConnection.open(api.port);
    using used = await RawConnection.open(api.port);
    used.send(rawRegister());
    await used.receives(/created_at/);

    await api.server.stop();
    await Promise.all([idle.closed, used.closed]);
    expect(used.received).to.match(/Connection: keep-alive/);
    expect(idle.received).to.equal('');
  });

  it('takes a request that was being sent', async () => {
    await using api = await startApi((event) => Promise.resolve(event));
    using slow = await RawConnection.open(api.port);
    const request = rawRegister();
    // In one piece with a request that is answered: once it is, half of the other has arrived too.
    slow.send(ping + request.slice(0, 60));
    await slow.receives(/"ok"/);
    const stopped = api.server.stop();
    slow.send(request.slice(60));

    expect(await slow.toEnd()).to.match(/HTTP\/1\.1 201 [^]*Connection: close/);
    await stopped;
  });

  it('answers the last of several requests sent at once on a connection, and those before it', async () => {
    const { held, enqueue } = heldEnqueue();
    await using api = await startApi(enqueue);
    using connection = await RawConnection.open(api.port);
    connection.send(rawRegister() + rawRegister() + rawRegister());
    await until('all under way', () => held.length === 3 || undefined);

    const stopped = api.server.stop();
    for (const release of held.toReversed()) release();

    const received = await connection.toEnd();
    expect(received.match(/HTTP\/1\.1 201 /g)).to.have.lengthOf(3);
    expect(received.match(/Connection: close/g)).to.have.lengthOf(1);
    await stopped;
  });

  it('is not held up by a client that never finishes its request', async () => {
    await using api = await startApi((event) => Promise.resolve(event), { stopTimeout: 50 });
    using halfHeaders = await RawConnection.open(api.port);
    using halfBody = await RawConnection.open(api.port);
    halfHeaders.send(ping + rawRegister().slice(0, 60));
    halfBody.send(ping + rawRegister().slice(0, -10));
    await Promise.all([halfHeaders.receives(/"ok"/), halfBody.receives(/"ok"/)]);

    await api.server.stop();
    await Promise.all([halfHeaders.closed, halfBody.closed]);
    expect(api.records.at(-1)).to.include({ level: 'warn', message: 'cutting off clients that are too slow' });
  });

  it('may be asked for twice, and before start', async () => {
    const api = await startApi((event) => Promise.resolve(event));
    await Promise.all([api.server.stop(), api.server.stop()]);
    await api.server.stop();
  });
});
