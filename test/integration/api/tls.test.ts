import { once } from 'node:events';
import { connect as connectTls } from 'node:tls';
import { expect } from 'chai';
import { inBothModes } from '../../support/api-modes.ts';
import { ApiClient } from '../../support/api-client.ts';
import { CertificateFiles, createKeyPair, type KeyPair } from '../../support/certificate.ts';
import { eventBody } from '../../support/events.ts';
import { failureOf } from '../../support/failure.ts';
import { token } from '../../support/pipeline.ts';

inBothModes('TLS in the pod', ({ startIngest, suiteIngest }) => {
  let pair: KeyPair;
  let files: CertificateFiles;
  before(async () => {
    pair = await createKeyPair('runledger');
    files = await CertificateFiles.create(pair);
  });
  after(() => files[Symbol.asyncDispose]());
  const suite = suiteIngest(() => ({ HTTPS_PORT: '0', TRUST_PROXY: 'false', ...files.settings }));

  it('serves events over HTTPS, whatever a header claims, and redirects plain HTTP to it', async () => {
    const client = new ApiClient(`https://127.0.0.1:${suite.ingest.httpsPort}`, { token }, { ca: pair.cert });
    try {
      const answer = await client.register(eventBody(), { 'x-forwarded-proto': 'http' });
      expect(answer.status, answer.body).to.equal(201);
    } finally {
      client.close();
    }
    const plain = await suite.ingest.client.register(eventBody());
    expect(plain.status).to.equal(301);
    expect(await suite.stored()).to.have.lengthOf(1);
  });

  it('tells browsers to keep to HTTPS and to the type of each answer, whatever the answer is', async () => {
    const client = new ApiClient(`https://127.0.0.1:${suite.ingest.httpsPort}`, { token }, { ca: pair.cert });
    try {
      for (const [status, request] of [
        [201, () => client.register(eventBody())],
        [400, () => client.register('{')],
        [401, () => client.register(eventBody(), { token: 'unknown' })],
        [404, () => client.send({ path: '/no-such-path' })],
        [200, () => client.send({ path: '/v1/ping/' })],
      ] as const) {
        const answer = await request();
        expect(answer.status, answer.body).to.equal(status);
        expect(answer.headers, String(status)).to.include({
          'strict-transport-security': 'max-age=31536000',
          'x-content-type-options': 'nosniff',
        });
      }
    } finally {
      client.close();
    }
  });

  it('speaks no TLS older than 1.2', async () => {
    const socket = connectTls({
      port: suite.ingest.httpsPort,
      host: '127.0.0.1',
      maxVersion: 'TLSv1.1',
      minVersion: 'TLSv1',
      ciphers: 'DEFAULT@SECLEVEL=0',
      rejectUnauthorized: false,
    });
    const [error] = (await once(socket, 'error')) as [Error & { code: string }];
    expect(error.code).to.match(/PROTOCOL_VERSION/);
  });

  for (const [what, settings, message] of [
    ['no key', { TLS_KEY_FILE: '' }, /TLS_KEY_FILE is required/],
    ['no certificate', { TLS_CERT_FILE: '' }, /TLS_CERT_FILE is required/],
    ['files that are not there', { TLS_CERT_FILE: '/no/such.crt' }, /TLS_CERT_FILE.*no such file.*\/no\/such\.crt/],
    ['a certificate that is none', { TLS_CERT_FILE: '/dev/null' }, /TLS_CERT_FILE and TLS_KEY_FILE cannot be used/],
  ] as const) {
    it(`does not start with ${what}, and says which setting it is`, async () => {
      const start = startIngest({ REDIS_URL: suite.redis.url, HTTPS_PORT: '0', ...files.settings, ...settings });
      expect(String(await failureOf(start))).to.match(message);
    });
  }
});
