import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse, stringify } from 'yaml';
import { createLogger } from '../../internal/kit/telemetry/logger.ts';
import { SecretTokenSource } from '../../internal/cluster/tokens/secret-token-source.ts';
import { until } from '../support/until.ts';
import { sharedCluster } from '../support/cluster/shared-cluster.ts';
import { createTenancy, type Tenancy } from '../support/cluster/tenancy.ts';
import { capturedMetrics } from '../support/cluster/token-fixtures.ts';

const main = join(import.meta.dirname, '../../cmd/token/main.ts');

describe('token command and the API server', () => {
  let tenancy: Tenancy;
  let source: SecretTokenSource;

  beforeEach(async () => {
    tenancy = await createTenancy();
    const { connect, tokens } = tenancy;
    const logger = createLogger('test', 'silent');
    source = new SecretTokenSource({ connect, namespace: tokens, logger, metrics: capturedMetrics().metrics });
    await source.start();
  });
  afterEach(() => source.stop());

  async function token(args: string[], input = ''): Promise<{ manifest: string; token: string }> {
    const running = promisify(execFile)(process.execPath, [main, ...args]);
    running.child.stdin?.end(input);
    const { stdout, stderr } = await running;
    return { manifest: stdout, token: stderr.trim() };
  }

  it('go through issue, rotate and revoke together', async () => {
    const { admin } = sharedCluster();
    const path = `${tenancy.secrets}/runledger-acme`;
    const status = (value: string) => source.authenticate(value).status;
    const becomes = (value: string, expected: string) => until(expected, () => status(value) === expected);

    const issued = await token(['create', '--organization', 'acme', '--namespace', tenancy.tokens]);
    await admin.apply(path, issued.manifest);
    await becomes(issued.token, 'known');

    const live = stringify(await admin.must('GET', path));
    const rotated = await token(['rotate', '--clear'], live);
    await admin.apply(path, rotated.manifest);
    await becomes(rotated.token, 'known');
    expect(status(issued.token)).to.equal('known');

    const reader = await token(['rotate', '--read'], stringify(await admin.must('GET', path)));
    await admin.apply(path, reader.manifest);
    await becomes(reader.token, 'known');
    expect(source.authenticate(reader.token)).to.include({ organization: 'acme', scope: 'read' });

    const manifest = parse(reader.manifest) as { data: Record<string, string> };
    delete manifest.data['sha256-1'];
    await admin.apply(path, stringify(manifest));
    await becomes(issued.token, 'unknown');
    for (const kept of [rotated, reader]) expect(status(kept.token)).to.equal('known');
  });
});
