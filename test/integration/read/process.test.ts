import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ConfigError } from '../../../internal/config/read.ts';
import { ApiClient } from '../../support/api-client.ts';
import { Child } from '../../support/child.ts';
import { readToken, startConsole } from '../../support/console.ts';
import { failureOf } from '../../support/failure.ts';
import { freePort } from '../../support/free-port.ts';
import { StreamReader } from '../../support/stream-reader.ts';
import { migratedDatabase } from '../../support/store.ts';
import { until } from '../../support/until.ts';

const good = {
  CONSOLE_PUBLIC_URL: 'https://x.example',
  DATABASE_URL: 'postgres://127.0.0.1:1/x',
  TOKENS_FILE: '/no/such',
  OPS_PORT: '0',
  PORT: '0',
};

function startProcess(settings: Record<string, string>): Child {
  const { PATH = '' } = process.env;
  return new Child('node', ['cmd/console/main.ts'], { env: { PATH, ...settings } });
}

describe('the process of the console', () => {
  const provider = { OIDC_ISSUER: 'https://login.example' };
  for (const [what, settings, message] of [
    [
      'a provider without an issuer',
      { OIDC_CLIENT_ID: 'runledger' },
      /^OIDC_ISSUER is required when OIDC_CLIENT_ID is set$/,
    ],
    [
      'a provider without a client',
      { ...provider, OIDC_ORGANIZATIONS: '{a: acme}' },
      /^OIDC_CLIENT_ID is required when OIDC_ISSUER is set, or OIDC_PROXY_AUDIENCE$/,
    ],
    [
      'a provider without organizations',
      { ...provider, OIDC_CLIENT_ID: 'runledger' },
      /^OIDC_ORGANIZATIONS is required when OIDC_ISSUER is set: which groups read which organizations$/,
    ],
    [
      'organizations that are no mapping',
      { ...provider, OIDC_CLIENT_ID: 'runledger', OIDC_ORGANIZATIONS: 'acme' },
      /^OIDC_ORGANIZATIONS must be a mapping in YAML from groups to organizations, such as \{billing: acme\}$/,
    ],
    [
      'a missing file of organizations',
      { ...provider, OIDC_ORGANIZATIONS_FILE: '/no/such' },
      /^OIDC_ORGANIZATIONS_FILE names an unreadable file: \/no\/such \(ENOENT\)$/,
    ],
  ] as const) {
    it(`does not start with a wrong setting: ${what}`, async () => {
      const failure = await failureOf(startConsole(good.DATABASE_URL, settings));
      expect(failure).to.be.instanceOf(ConfigError).and.have.property('message').that.matches(message);
    });
  }

  for (const [what, settings, line] of [
    ['no database', { ...good, DATABASE_URL: '' }, /^runledger: DATABASE_URL is required: /],
    [
      'a bad database',
      { ...good, CONSOLE_DATABASE_URL: 'hunter2' },
      /^runledger: CONSOLE_DATABASE_URL must be a postgres:\/\/ or postgresql:\/\/ address/,
    ],
  ] as const) {
    it(`ends at once with one line that names a wrong setting: ${what}`, async () => {
      const child = startProcess(settings);
      expect(await child.exited).to.equal(1);
      expect(child.output).to.have.lengthOf(1);
      expect(child.output[0]).to.match(line).and.to.not.contain('hunter2');
    });
  }

  it('serves readers until SIGTERM, ends their streams, and exits with 0', async () => {
    await using database = await migratedDatabase();
    const folder = await mkdtemp(join(tmpdir(), 'runledger-console-'));
    const [PORT, OPS_PORT] = [String(await freePort()), String(await freePort())];
    const manifest = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'acme', labels: { 'runledger.dev/organization': 'acme' } },
      stringData: { 'read-1': readToken() },
    };
    await writeFile(join(folder, 'tokens.yaml'), JSON.stringify(manifest));
    const child = startProcess({
      ...good,
      PORT,
      OPS_PORT,
      DATABASE_URL: 'postgres://127.0.0.1:1/not-this-one',
      CONSOLE_DATABASE_URL: database.url,
      TOKENS_FILE: join(folder, 'tokens.yaml'),
      TRUST_PROXY: 'true',
      DRAIN_DELAY_MS: '0',
    });
    const ops = new ApiClient(`http://127.0.0.1:${OPS_PORT}`);
    const client = new ApiClient(`http://127.0.0.1:${PORT}`, { token: readToken(), 'x-forwarded-proto': 'https' });
    try {
      await child.line(/"started"/);
      await until('readiness', async () => ((await ops.send({ path: '/readyz' })).status === 200 ? true : undefined));
      expect((await client.send({ path: '/v1/executions/' })).json()).to.deep.equal({ items: [], next_cursor: null });
      using reader = await StreamReader.open(Number(PORT));
      const stopped = child.kill('SIGTERM');
      await reader.until('the end', () => reader.ended);
      expect(await stopped, child.output.join('\n')).to.equal(0);
    } finally {
      ops.close();
      client.close();
      await child.kill('SIGKILL');
      await rm(folder, { recursive: true });
    }
  });
});
