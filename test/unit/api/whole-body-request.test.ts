import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { WholeBodyRequest } from '../../../internal/intake/fast-path/whole-body-request.ts';
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

  /**
   * Answers the next request before Node reads its end (in the same turn), or after it (in the next
   * turn).
   */
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
    it(`returns it, three times on a connection, ${when} the request's end`, async () => {
      for (const _ of [1, 2, 3]) {
        send();
        expect(await answered(when)).to.include({ body: 'body' });
      }
    });

    it(`is garbage-collected once it is answered ${when} its end, while its connection stays open`, async () => {
      send();
      const { request } = await answered(when);
      await until('the collection of the request', async () => {
        await collectGarbage();
        return request.deref() === undefined;
      });
      expect(connection.isClosed).to.equal(false);
    });
  }
});
