import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import { createLogger } from '../../internal/kit/telemetry/logger.ts';
import { digestOf } from '../../internal/cluster/tokens/token-entry.ts';
import { SecretTokenSource } from '../../internal/cluster/tokens/secret-token-source.ts';
import { until } from '../support/until.ts';
import { sharedCluster } from '../support/cluster/shared-cluster.ts';
import { createTenancy, type Tenancy } from '../support/cluster/tenancy.ts';
import { capturedMetrics } from '../support/cluster/token-fixtures.ts';

const main = join(import.meta.dirname, '../../cmd/admin/main.ts');

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

  async function token(args: string[], input = ''): Promise<string> {
    const running = promisify(execFile)(process.execPath, [main, 'token', ...args]);
    running.child.stdin?.end(input);
    const { stdout, stderr } = await running;
    expect(stderr).to.equal('');
    return stdout;
  }

  it('go through issue, rotate and revoke together', async () => {
    const { admin } = sharedCluster();
    const path = `${tenancy.secrets}/runledger-acme`;
    const status = (value: string) => source.authenticate(value.trim()).status;
    const becomes = (value: string, expected: string) => until(expected, () => status(value) === expected);
    const patch = (text: string) => admin.must('PATCH', path, text, 'application/strategic-merge-patch+json');

    const issued = await token(['create']);
    await admin.apply(path, await token(['secret', '--organization', 'acme', '--namespace', tenancy.tokens], issued));
    await becomes(issued, 'known');

    const [rotated, reader] = [await token(['create']), await token(['create', '--read'])];
    for (const added of [rotated, reader]) {
      await patch(await token(['rotate'], added));
      await becomes(added, 'known');
    }
    expect(status(issued)).to.equal('known');
    expect(source.authenticate(reader.trim())).to.include({ organization: 'acme', scope: 'read' });

    const fingerprint = digestOf(issued.trim()).slice(0, 12);
    await patch(await token(['revoke', '--fingerprint', fingerprint], stringify(await admin.must('GET', path))));
    await becomes(issued, 'unknown');
    for (const kept of [rotated, reader]) expect(status(kept)).to.equal('known');
  });
});
