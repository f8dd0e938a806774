import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, type TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { ApiServer } from '../../../internal/intake/http/server.ts';
import { inBothModes } from '../../support/api-modes.ts';
import { ApiClient } from '../../support/api-client.ts';
import { certificateIn, createKeyPair } from '../../support/certificate.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { until } from '../../support/until.ts';

inBothModes('certificate', ({ fastPath }) => {
  it('is reloaded without a restart; the old one is kept while the new pair is broken', async () => {
    const { logger, records } = recordingLogger();
    await using tls = await certificateIn('first', logger, 5);
    const { pair: first, files, certificate } = tls;
    const second = await createKeyPair('second');
    const told = (message: string): Promise<number> =>
      until(message, () => records.filter((record) => record.message === message).length || undefined);
    const server = new ApiServer({ port: 0, handler: sayHello, fastPath, logger, certificate });
    await server.start();
    const standing = new ApiClient(`https://127.0.0.1:${server.port}`, {}, { ca: first.cert });
    try {
      expect((await standing.send({ path: '/' })).status).to.equal(200);
      expect(await servedName(server.port)).to.equal('first');

      await files.replace({ cert: second.cert, key: first.key });
      await told('new certificate is invalid, keeping the old one');
      expect(await servedName(server.port)).to.equal('first');

      await files.replace(second);
      expect(await told('certificate reloaded')).to.equal(1);
      expect(await servedName(server.port)).to.equal('second');
      // The open connection keeps its certificate.
      expect((await standing.send({ path: '/' })).status).to.equal(200);
    } finally {
      standing.close();
      await server.stop();
    }
    expect(JSON.stringify(records)).to.not.contain('PRIVATE KEY');
  });

  it('that cannot be used is logged once, not every two seconds', async () => {
    const { logger, records } = recordingLogger();
    await using tls = await certificateIn('only', logger, 1);
    const { pair, files, certificate } = tls;
    const server = new ApiServer({ port: 0, handler: sayHello, fastPath, logger, certificate });
    await server.start();
    try {
      await files.replace({ cert: 'garbage', key: pair.key });
      await until('the error', () => records.find(({ level }) => level === 'error'));
      await files.replace({ ...pair, cert: `${pair.cert}\n` });
      await until('the reload', () => records.find(({ message }) => message === 'certificate reloaded'));
    } finally {
      await server.stop();
    }
    expect(records.filter(({ level }) => level === 'error')).to.have.lengthOf(1);
  });
});

async function sayHello(_request: unknown, response: ServerResponse): Promise<void> {
  response.end('hello');
}

/** The common name of the certificate that a new connection gets. */
async function servedName(port: number): Promise<unknown> {
  const socket: TLSSocket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const { subject } = socket.getPeerCertificate();
  socket.destroy();
  return subject.CN;
}
