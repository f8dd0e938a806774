import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { createToken } from '../../internal/tokens/manifest.ts';
import type { Cluster } from '../support/cluster/cluster.ts';
import type { KubernetesClient } from '../support/cluster/kubernetes-client.ts';
import { sharedCluster } from '../support/cluster/shared-cluster.ts';
import { createTenancy, type Tenancy } from '../support/cluster/tenancy.ts';

describe("permissions of ingest's account", () => {
  let cluster: Cluster;
  let tenancy: Tenancy;
  let pod: KubernetesClient;

  before(async () => {
    cluster = sharedCluster();
    tenancy = await createTenancy(cluster);
    await tenancy.put('acme', 'acme', { 'token-1': createToken() });
    await cluster.admin.put(`/api/v1/namespaces/${tenancy.release}/secrets`, { metadata: { name: 'database' } });
    pod = await cluster.clientFor(tenancy.release, tenancy.account);
  });
  after(() => pod.close());

  const status = async (...call: Parameters<KubernetesClient['call']>): Promise<number> =>
    (await pod.call(...call)).status;

  it('are those of the chart', async () => {
    const template = await readFile(
      join(import.meta.dirname, '../../charts/runledger/templates/tokens/rbac.yaml'),
      'utf8',
    );
    const shipped = parse(/^rules:\n(?: .*\n)+/m.exec(template)?.[0] ?? '') as object;
    const tested = parse(await readFile(join(import.meta.dirname, 'role.yaml'), 'utf8')) as { rules: object };
    expect(shipped).to.deep.equal({ rules: tested.rules });
  });

  it('let it read the Secrets of the tokens namespace and write Events there', async () => {
    expect(await status('GET', tenancy.secrets)).to.equal(200);
    const involvedObject = { kind: 'Secret', namespace: tenancy.tokens, name: 'acme' };
    const event = { metadata: { name: 'acme-1' }, involvedObject, type: 'Warning', reason: 'Test' };
    expect(await status('POST', `/api/v1/namespaces/${tenancy.tokens}/events`, event)).to.equal(201);
  });

  it('let it read no Secret anywhere else', async () => {
    const elsewhere = `/api/v1/namespaces/${tenancy.release}/secrets`;
    for (const path of [
      elsewhere,
      `${elsewhere}/database`,
      '/api/v1/namespaces/kube-system/secrets',
      '/api/v1/secrets',
    ]) {
      expect(await status('GET', path), path).to.equal(403);
      expect(await status('GET', `${path}?watch=true`), `watch ${path}`).to.equal(403);
    }
  });

  it('let it change no Secret, and give itself no right', async () => {
    const secret = { metadata: { name: 'mine' } };
    expect(await status('POST', tenancy.secrets, secret)).to.equal(403);
    expect(await status('PATCH', `${tenancy.secrets}/acme`, { metadata: { labels: { x: 'y' } } })).to.equal(403);
    expect(await status('DELETE', `${tenancy.secrets}/acme`)).to.equal(403);
    expect(await status('GET', `/api/v1/namespaces/${tenancy.tokens}/configmaps`)).to.equal(403);
    expect(await status('GET', `/api/v1/namespaces/${tenancy.tokens}/events`)).to.equal(403);
    const bindings = `/apis/rbac.authorization.k8s.io/v1/namespaces/${tenancy.tokens}/rolebindings`;
    expect(await status('POST', bindings, secret)).to.equal(403);
  });

  it('are all that the account has in the tokens namespace', async () => {
    const review = { kind: 'SelfSubjectRulesReview', apiVersion: 'authorization.k8s.io/v1' };
    const answer = await pod.must('POST', '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', {
      ...review,
      spec: { namespace: tenancy.tokens },
    });
    const { resourceRules } = answer['status'] as { resourceRules: { resources: string[]; verbs: string[] }[] };
    const rules = resourceRules.map(({ resources, verbs }) => `${resources.join()}: ${verbs.join()}`).sort();
    expect(rules).to.deep.equal([
      // What Kubernetes lets every account read, and ask about itself.
      'clustertrustbundles: get,list,watch',
      'events: create',
      'secrets: list,watch',
      'selfsubjectaccessreviews,selfsubjectrulesreviews: create',
      'selfsubjectreviews: create',
    ]);
  });
});
