import { randomBytes } from 'node:crypto';
import type { ConnectToCluster } from '../../../internal/cluster/cluster-access.ts';
import { podAccount } from '../../../internal/cluster/pod-account.ts';
import { render } from '../helm.ts';
import { sharedCluster } from './shared-cluster.ts';

/** What the chart installs for the tokens, in fresh namespaces of the run's API server. */
export interface Tenancy {
  /** The namespace of the token Secrets. */
  readonly tokens: string;
  /** The namespace that ingest runs in. */
  readonly release: string;
  /** Ingest's account, and the folder that it finds it in. */
  readonly account: string;
  readonly accountFolder: string;
  readonly connect: ConnectToCluster;
  /** The path of the Secrets in the API. */
  readonly secrets: string;
  /** Makes or replaces a Secret. */
  put(name: string, organization: string, entries: Record<string, string>): Promise<void>;
  delete(name: string): Promise<void>;
}

/** Makes the namespaces, and the account with the Role that the chart ships. */
export async function createTenancy(): Promise<Tenancy> {
  const cluster = sharedCluster();
  const { admin } = cluster;
  const id = randomBytes(4).toString('hex');
  const [tokens, release, account] = [`tokens-${id}`, `release-${id}`, 'runledger-ingest'];
  for (const name of [tokens, release]) await admin.must('POST', '/api/v1/namespaces', { metadata: { name } });
  await admin.must('POST', `/api/v1/namespaces/${release}/serviceaccounts`, { metadata: { name: account } });
  const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${tokens}`;
  const role = (await render()).find(({ kind }) => kind === 'Role');
  await admin.must('POST', `${rbac}/roles`, { metadata: { name: account }, rules: role?.['rules'] });
  await admin.must('POST', `${rbac}/rolebindings`, {
    metadata: { name: account },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: account },
    subjects: [{ kind: 'ServiceAccount', name: account, namespace: release }],
  });

  const secrets = `/api/v1/namespaces/${tokens}/secrets`;
  const accountFolder = await cluster.podAccountFolder(release, account);
  return {
    tokens,
    release,
    account,
    accountFolder,
    connect: podAccount(cluster.url, accountFolder),
    secrets,
    put(name, organization, entries) {
      const encoded = Object.entries(entries).map(([entry, text]) => [entry, Buffer.from(text).toString('base64')]);
      const metadata = { name, labels: { 'runledger.dev/organization': organization } };
      // Not stringData, which a PUT would merge into the entries that are there.
      return admin.put(secrets, { metadata, data: Object.fromEntries(encoded) });
    },
    async delete(name) {
      await admin.must('DELETE', `${secrets}/${name}`);
    },
  };
}
