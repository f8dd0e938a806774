import { once } from 'node:events';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { expect } from 'chai';
import { Certificate } from '../../../internal/api/certificate.ts';
import { ApiServer } from '../../../internal/api/server.ts';
import { CertificateFiles, createKeyPair } from '../../support/certificate.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { until } from '../../support/until.ts';

describe('the callers of a server', () => {
  const handler = (): Promise<void> => Promise.resolve();
  const { logger } = recordingLogger();

  const counted = (server: ApiServer, callers: number): Promise<true> =>
    until(`${callers} callers`, () => (server.callers.open === callers ? true : undefined));

  it('are its open connections', async () => {
    const server = new ApiServer({ port: 0, handler, logger });
    expect(server.callers).to.deep.equal({ open: 0, opened: 0 });
    await server.start();
    const sockets = [connect(server.port), connect(server.port)];
    await counted(server, 2);
    sockets[0]?.destroy();
    await counted(server, 1);
    await server.stop();
    await counted(server, 0);
    expect(server.callers.opened).to.equal(2);
  });

  it('are counted once with TLS, from before the handshake', async () => {
    const pair = await createKeyPair('localhost');
    await using files = await CertificateFiles.create(pair);
    const certificate = new Certificate(files.settings.TLS_CERT_FILE, files.settings.TLS_KEY_FILE, logger);
    const server = new ApiServer({ port: 0, handler, logger, certificate });
    await server.start();
    const silent = connect(server.port);
    await counted(server, 1);
    const secure = connectTls({ port: server.port, ca: pair.cert, checkServerIdentity: () => undefined });
    await once(secure, 'secureConnect');
    expect(server.callers).to.deep.equal({ open: 2, opened: 2 });
    secure.destroy();
    await counted(server, 1);
    silent.destroy();
    await counted(server, 0);
    await server.stop();
  });
});
