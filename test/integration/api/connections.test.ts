import { once } from 'node:events';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { expect } from 'chai';
import type { ConnectionCount } from '../../../internal/intake/http/connections.ts';
import { defaultServerLimits } from '../../../internal/intake/http/server-limits.ts';
import { ApiServer } from '../../../internal/intake/http/server.ts';
import { inBothModes } from '../../support/api-modes.ts';
import { certificateIn } from '../../support/certificate.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { until } from '../../support/until.ts';

inBothModes('the connections of servers', ({ fastPath }) => {
  const handler = (): Promise<void> => Promise.resolve();
  const { logger } = recordingLogger();

  const untilOpen = (count: ConnectionCount, open: number): Promise<true> =>
    until(`${open} open connections`, () => count.open === open);

  it('are counted while they are open, of all servers that share the count', async () => {
    const connections = { open: 0, opened: 0 };
    const servers = [1, 2].map(() => new ApiServer({ port: 0, handler, fastPath, logger, connections }));
    for (const server of servers) await server.start();
    const sockets = servers.map(({ port }) => connect(port));
    await untilOpen(connections, 2);
    sockets[0]?.destroy();
    await untilOpen(connections, 1);
    for (const server of servers) await server.stop();
    await untilOpen(connections, 0);
    expect(connections.opened).to.equal(2);
  });

  it('are counted once with TLS, from before the handshake', async () => {
    await using tls = await certificateIn('localhost', logger);
    const { certificate } = tls;
    const connections = { open: 0, opened: 0 };
    const server = new ApiServer({ port: 0, handler, fastPath, logger, certificate, connections });
    await server.start();
    const silent = connect(server.port);
    await untilOpen(connections, 1);
    const secure = connectTls({ port: server.port, ca: tls.pair.cert, checkServerIdentity: () => undefined });
    await once(secure, 'secureConnect');
    expect(connections).to.deep.equal({ open: 2, opened: 2 });
    secure.destroy();
    await untilOpen(connections, 1);
    silent.destroy();
    await untilOpen(connections, 0);
    await server.stop();
  });

  it('are reported once each with TLS when a stop cuts them off', async () => {
    const { logger, records } = recordingLogger();
    await using tls = await certificateIn('localhost', logger);
    const { certificate } = tls;
    const limits = { ...defaultServerLimits, stopTimeout: 50 };
    const asked = Promise.withResolvers<void>();
    const never = (): Promise<void> => Promise.resolve(asked.resolve());
    const server = new ApiServer({ port: 0, handler: never, fastPath, logger, certificate, limits });
    await server.start();
    const secure = connectTls({ port: server.port, ca: tls.pair.cert, checkServerIdentity: () => undefined });
    secure.on('error', () => undefined).write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await asked.promise;
    await server.stop();
    expect(records.at(-1)).to.deep.include({
      fields: { connections: 1 },
      message: 'cutting off clients that are too slow',
    });
  });
});
