import { randomBytes } from 'node:crypto';
import { render } from '../helm.ts';
import type { Cluster } from './cluster.ts';

/**
 * What the chart installs for the tokens: a namespace of their own, and an account in another that
 * may read them.
 */
export interface Tenancy {
  /** Where the token Secrets are. */
  readonly tokens: string;
  /** Where ingest runs. */
  readonly release: string;
  readonly account: string;
  /** The folder that ingest finds its account in. */
  readonly accountFolder: string;
  /** The path of the Secrets in the API. */
  readonly secrets: string;
  /** Makes or replaces a Secret. */
  put(name: string, organization: string, entries: Record<string, string>): Promise<void>;
  delete(name: string): Promise<void>;
}

/** A fresh pair of namespaces with the account, bound to the Role that the chart ships. */
export async function createTenancy(cluster: Cluster): Promise<Tenancy> {
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
  return {
    tokens,
    release,
    account,
    accountFolder: await cluster.podAccountFolder(release, account),
    secrets,
    put: (name, organization, entries) =>
      admin.put(secrets, {
        metadata: { name, labels: { 'runledger.dev/organization': organization } },
        // Not stringData, which a PUT would merge into the entries that are there.
        data: Object.fromEntries(Object.entries(entries).map(([entry, text]) => [entry, toBase64(text)])),
      }),
    async delete(name) {
      await admin.must('DELETE', `${secrets}/${name}`);
    },
  };
}

function toBase64(text: string): string {
  return Buffer.from(text).toString('base64');
}
