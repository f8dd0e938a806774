import { expect } from 'chai';
import { Child } from '../../support/child.ts';

const good = {
  PUBLIC_URL: 'https://x.example',
  REDIS_URL: 'redis://127.0.0.1:1',
  TOKENS_FILE: '/no/such',
  OPS_PORT: '0',
  PORT: '0',
};

describe('the process with a wrong setting', () => {
  for (const [what, settings, line] of [
    [
      'a bad secret',
      { ...good, REDIS_URL: 'hunter2' },
      /^runledger: REDIS_URL must be a redis:\/\/ or rediss:\/\/ address/,
    ],
    ['no certificate', { ...good, HTTPS_PORT: '0' }, /^runledger: TLS_CERT_FILE is required when HTTPS_PORT is set$/],
    ['no TLS port', { ...good, TLS_CERT_FILE: '/x' }, /^runledger: HTTPS_PORT is required when TLS_CERT_FILE is set$/],
    [
      'no time to stop',
      { ...good, DRAIN_DELAY_MS: '30000' },
      /^runledger: SHUTDOWN_TIMEOUT_MS must be longer than DRAIN_DELAY_MS, which is a part of it$/,
    ],
  ] as const) {
    it(`ends at once with one line that names it: ${what}`, async () => {
      const { PATH = '' } = process.env;
      const ingest = new Child('node', ['cmd/ingest/main.ts'], { env: { PATH, ...settings } });
      expect(await ingest.exited).to.equal(1);
      expect(ingest.output).to.have.lengthOf(1);
      expect(ingest.output[0]).to.match(line);
      expect(ingest.output[0]).to.not.contain('hunter2');
    });
  }

  it('says so when every request will be redirected', async () => {
    const { PATH = '' } = process.env;
    const ingest = new Child('node', ['cmd/ingest/main.ts'], { env: { PATH, ...good } });
    await ingest.line(/every request gets a 301: neither HTTPS_PORT nor TRUST_PROXY is set/);
    await ingest.exited;
  });
});
