import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { WholeBodyRequest } from '../../../internal/api/fast-path/whole-body-request.ts';
import { collectGarbage } from '../../support/garbage.ts';
import { RawConnection } from '../../support/raw-connection.ts';
import { until } from '../../support/until.ts';

describe('a request whose body comes in one piece', () => {
  let server: Server<typeof WholeBodyRequest>;
  let connection: RawConnection;

  beforeEach(async () => {
    server = createServer({ IncomingMessage: WholeBodyRequest, keepAliveTimeout: 60_000 });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    connection = await RawConnection.open((server.address() as AddressInfo).port);
  });

  afterEach(async () => {
    connection[Symbol.dispose]();
    server.close();
    await once(server, 'close');
  });

  const send = (): void => connection.send('POST / HTTP/1.1', 'Host: localhost', 'Content-Length: 4', '', 'body');

  /** The next request, taken and answered by then: in its own turn before its end is read, or in the next turn after it. */
  async function answered(
    when: 'before' | 'after',
  ): Promise<{ body: string | undefined; request: WeakRef<WholeBodyRequest> }> {
    const [request, response] = (await once(server, 'request')) as [WholeBodyRequest, ServerResponse];
    if (when === 'after') await turn();
    expect(request.complete).to.equal(when === 'after');
    const body = request.takeBody()?.toString();
    expect(request.takeBody()).to.equal(undefined);
    response.end('done');
    await once(response, 'close');
    return { body, request: new WeakRef(request) };
  }

  for (const when of ['before', 'after'] as const) {
    it(`has it, again and again on a connection, ${when} the request's end`, async () => {
      for (const _ of [1, 2, 3]) {
        send();
        expect(await answered(when)).to.include({ body: 'body' });
      }
    });

    it(`is let go of once it is answered ${when} its end, while its connection stays`, async () => {
      send();
      const { request } = await answered(when);
      await isLetGo(request);
    });
  }

  it('is let go of where Node cannot end a stream that nobody has read', async () => {
    server.once('request', (request) => Reflect.set(request, '_dumpAndCloseReadable', undefined));
    send();
    const { body, request } = await answered('after');
    expect(body).to.equal('body');
    await isLetGo(request);
  });

  async function isLetGo(request: WeakRef<WholeBodyRequest>): Promise<void> {
    await until('it is let go of', async () => {
      await collectGarbage();
      return request.deref() === undefined ? true : undefined;
    });
    expect(connection.isClosed).to.equal(false);
  }
});
