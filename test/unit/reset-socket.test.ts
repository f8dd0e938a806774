import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { expect } from 'chai';
import { resetSocket } from '../support/reset-socket.ts';

describe('the reset of a connection', () => {
  let server: Server;
  before(async () => {
    server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(() => {
    server.close();
  });

  for (const [when, bytes] of [
    ['nothing was written', 0],
    ['the other end has not taken all that was written', 50_000_000],
  ] as const) {
    it(`ends both sides, in the turn in which the connection ends, when ${when}`, async () => {
      const near = connect((server.address() as AddressInfo).port, '127.0.0.1');
      const [[far]] = (await Promise.all([once(server, 'connection'), once(near, 'connect')])) as [[Socket], unknown];
      const ends = [near, far].map(closed);
      if (bytes > 0) near.write(Buffer.alloc(bytes));
      near.end();
      resetSocket(near);
      far.resume();
      // The hook of all tests would find a handle that stays open.
      expect(await Promise.all(ends)).to.deep.equal([undefined, bytes === 0 ? undefined : 'ECONNRESET']);
    });
  }
});

/** Resolves once a socket is closed, with the code of its error. */
function closed(socket: Socket): Promise<unknown> {
  let code: unknown;
  socket.on('error', (error: NodeJS.ErrnoException) => (code = error.code));
  return new Promise((resolve) => socket.once('close', () => resolve(code)));
}
