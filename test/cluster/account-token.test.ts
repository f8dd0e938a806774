import { expect } from 'chai';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { kubeconfigAccount } from '../../internal/cluster/kubeconfig-account.ts';
import type { ConnectToCluster } from '../../internal/cluster/cluster-access.ts';
import { createToken } from '../../internal/cluster/tokens/manifest.ts';
import { SecretTokenSource } from '../../internal/cluster/tokens/secret-token-source.ts';
import { until } from '../support/until.ts';
import { sharedCluster } from '../support/cluster/shared-cluster.ts';
import { createTenancy, type Tenancy } from '../support/cluster/tenancy.ts';
import { capturedMetrics } from '../support/cluster/token-fixtures.ts';
import { recordingLogger } from '../support/recording-logger.ts';

describe('the account that reads the Secrets', () => {
  const cluster = sharedCluster;
  let tenancy: Tenancy;
  let source: SecretTokenSource;
  let logs: ReturnType<typeof recordingLogger>;

  beforeEach(async () => {
    tenancy = await createTenancy();
    logs = recordingLogger();
  });
  afterEach(() => source.stop());

  const known = (token: string): boolean => source.authenticate(token).status === 'known';

  async function follow(connect: ConnectToCluster, namespace?: string): Promise<void> {
    const { metrics } = capturedMetrics();
    const times = { idleMs: 1000, backoff: { firstMs: 100, longestMs: 500 } };
    source = new SecretTokenSource({ connect, namespace, ...logs, metrics, times });
    await source.start();
    await until('the first list', () => source.unready() === undefined);
  }

  it('may get a new token, and lose the old one', async () => {
    const [before, after] = [createToken(), createToken()];
    await tenancy.put('acme', 'acme', { token: before });
    await follow(tenancy.connect, tenancy.tokens);
    expect(known(before)).to.equal(true);

    // A token is void as soon as its account is gone; the account that comes back has the same
    // rights.
    const accounts = `/api/v1/namespaces/${tenancy.release}/serviceaccounts`;
    await cluster().admin.must('DELETE', `${accounts}/${tenancy.account}`);
    await cluster().admin.must('POST', accounts, { metadata: { name: tenancy.account } });
    await until('the old token refused', () => logs.lines.some((line) => line.includes('401')), 30_000);
    expect(known(before)).to.equal(true);

    await writeFile(join(tenancy.accountFolder, 'token'), await cluster().tokenFor(tenancy.release, tenancy.account));
    await tenancy.put('globex', 'globex', { token: after });
    await until('the new Secret', () => known(after));
    expect(logs.lines.join('')).not.to.contain(before).and.not.contain(after);
  });

  it('may come from a kubeconfig, which also names the namespace', async () => {
    const token = createToken();
    await tenancy.put('acme', 'acme', { token });
    const path = join(tenancy.accountFolder, 'kubeconfig');
    await writeFile(
      path,
      cluster().kubeconfig(tenancy.tokens, await cluster().tokenFor(tenancy.release, tenancy.account)),
    );
    await follow(kubeconfigAccount(path));
    expect(known(token)).to.equal(true);
  });
});
