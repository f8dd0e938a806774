import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { Cluster } from '../support/cluster/cluster.ts';
import { sharedCluster } from '../support/cluster/shared-cluster.ts';
import { findKubectl } from '../support/helm-binaries.ts';
import { Release } from '../support/node/release.ts';

/** The rights of every account in Kubernetes: to ask about itself and to list the APIs. */
const everybody = [
  'clustertrustbundles.certificates.k8s.io [get list watch]',
  'selfsubjectaccessreviews.authorization.k8s.io [create]',
  'selfsubjectreviews.authentication.k8s.io [create]',
  'selfsubjectrulesreviews.authorization.k8s.io [create]',
  ...[
    '/api',
    '/api/*',
    '/apis',
    '/apis/*',
    '/healthz',
    '/livez',
    '/openapi',
    '/openapi/*',
    '/openid/v1/jwks',
    '/openid/v1/jwks/',
  ].map((path) => `${path} [get]`),
  ...[
    '/readyz',
    '/version',
    '/version/',
    '/.well-known/openid-configuration',
    '/.well-known/openid-configuration/',
  ].map((path) => `${path} [get]`),
];

describe("the rights of the release's accounts", () => {
  let cluster: Cluster;
  let release: Release;

  before(async () => {
    cluster = sharedCluster();
    release = await Release.prepare(cluster);
    await release.install(...(await release.valuesOf('ingress-nginx')));
  });
  after(() => release.cleanUp());

  it('are, for ingest, those of its Role in the tokens namespace', async () => {
    const rights = await canI('runledger-ingest', release.tokensNamespace);
    expect(rights).to.have.members([...everybody, 'secrets [list watch]', 'events [create]']);
  });

  for (const namespace of ['the release', 'kube-system', 'default']) {
    it(`are none for ingest in the namespace of ${namespace}`, async () => {
      const name = namespace === 'the release' ? release.namespace : namespace;
      expect(await canI('runledger-ingest', name)).to.have.members(everybody);
    });
  }

  it('are none for the worker, which has the default account', async () => {
    const path = `/api/v1/namespaces/${release.namespace}/serviceaccounts`;
    await cluster.admin.must('POST', path, { metadata: { name: 'default' } });
    expect(await canI('default', release.tokensNamespace)).to.have.members(everybody);
    expect(await canI('default', release.namespace)).to.have.members(everybody);
  });

  /** The rows of `kubectl auth can-i --list` as that account: what, and its verbs. */
  const canI = async (account: string, namespace: string): Promise<string[]> => {
    const kubeconfig = `${release.kubeconfig}-${account}`;
    await writeFile(kubeconfig, cluster.kubeconfig(namespace, await cluster.tokenFor(release.namespace, account)));
    const args = ['--kubeconfig', kubeconfig, 'auth', 'can-i', '--list', '--namespace', namespace, '--no-headers'];
    const { stdout } = await promisify(execFile)(await findKubectl(), args);
    const rows = stdout
      .trim()
      .split('\n')
      .map((line) => /^(\S*)\s+\[(\S*)\]\s+\[(.*)\]\s+\[(.*)\]$/.exec(line));
    const rights = rows.map((row) => {
      const [, resource, path, names, verbs] = row ?? [];
      return `${resource || path}${names ? ` (${names})` : ''} [${verbs}]`;
    });
    // Two of Kubernetes' own roles grant the same paths.
    return [...new Set(rights)];
  };
});
