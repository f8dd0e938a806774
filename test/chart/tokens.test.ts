import { expect } from 'chai';
import { render, valuesOf } from '../support/helm.ts';
import { environmentOf, objectOf, theContainer, thePod } from '../support/helm-manifests.ts';

describe('chart, tokens', () => {
  it('lets ingest read Secrets and write Events in the tokens namespace, and the worker nothing', async () => {
    const manifests = await render(['--values', valuesOf('external-services')]);
    const roles = manifests.filter(({ kind }) => kind === 'Role' || kind === 'ClusterRole');
    expect(roles.map(({ metadata }) => metadata.namespace)).to.deep.equal(['runledger-tokens']);
    expect(roles[0]?.['rules']).to.deep.equal([
      { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] },
    ]);
    expect(objectOf(manifests, 'RoleBinding', 'runledger.runledger-ingest')['subjects']).to.deep.equal([
      { kind: 'ServiceAccount', name: 'runledger-ingest', namespace: 'runledger' },
    ]);
    expect(thePod(manifests, 'runledger-worker')).to.include({ automountServiceAccountToken: false });
    expect(thePod(manifests, 'runledger-worker')).not.to.have.property('serviceAccountName');
    expect(environmentOf(theContainer(manifests, 'runledger-ingest'))).to.include({
      TOKENS_NAMESPACE: 'runledger-tokens',
      TOKENS_LABEL_SELECTOR: 'runledger.dev/organization',
    });
  });

  it('keeps the tokens namespace at uninstall unless keepNamespace is false', async () => {
    const annotations = async (shape: string) =>
      objectOf(await render(['--values', valuesOf(shape)]), 'Namespace', 'runledger-tokens').metadata.annotations;
    expect(await annotations('external-services')).to.deep.equal({ 'helm.sh/resource-policy': 'keep' });
    expect(await annotations('ingress-nginx')).to.equal(undefined);
  });

  it('creates a demo organization only if demo.enabled is set', async () => {
    const organizations = async (args: string[]) =>
      (await render(args))
        .filter(({ metadata }) => metadata.annotations?.['helm.sh/hook'] === undefined)
        .filter(({ metadata }) => metadata.labels?.['runledger.dev/organization'] !== undefined);
    expect(await organizations([])).to.deep.equal([]);
    const [demo] = await organizations(['--set', 'demo.enabled=true,demo.token=sixteen-letters!']);
    expect(demo?.metadata).to.include({ name: 'runledger-demo' });
    expect(demo?.['data']).to.deep.equal({ token: Buffer.from('sixteen-letters!').toString('base64') });
  });

  it("labels the Secrets it makes so that ingest's selector finds them", async () => {
    const selector = 'tokens.labelSelector=example.com/org\\,stage=prod\\,tier!=old';
    const manifests = await render(['--set', selector, '--set', 'demo.enabled=true']);
    for (const [name, organization] of [
      ['runledger-demo', 'demo'],
      ['runledger-test', 'helm-test'],
    ] as const) {
      const { labels } = objectOf(manifests, 'Secret', name).metadata;
      expect(labels).to.include({ 'example.com/org': organization, stage: 'prod' });
      expect(labels).not.to.have.any.keys('runledger.dev/organization', 'tier', 'tier!');
    }
  });

  it('lets two releases of different namespaces share a tokens namespace', async () => {
    const shared = ['tokens.namespace=tokens', 'demo.enabled=true'].flatMap((value) => ['--set', value]);
    const objects = async (namespace: string): Promise<string[]> =>
      (await render([...shared, '--namespace', namespace]))
        .filter(({ metadata }) => metadata.namespace === 'tokens')
        .map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    const [first, second, own] = [await objects('first'), await objects('second'), await objects('tokens')];
    expect(first).to.have.members(
      ['Role', 'RoleBinding', 'Secret', 'Secret'].map(
        (kind, index) => `${kind} first.runledger-${['ingest', 'ingest', 'demo', 'test'][index]}`,
      ),
    );
    // A release whose own namespace holds the tokens shares them, too.
    const all = [...first, ...second, ...own];
    expect(all).to.have.length(new Set(all).size);
  });

  it("binds ingest's account to the Role in a tokens namespace that releases share", async () => {
    const manifests = await render(['--set', 'tokens.namespace=tokens', '--namespace', 'first']);
    const binding = objectOf(manifests, 'RoleBinding', 'first.runledger-ingest');
    expect(binding['roleRef']).to.include({ kind: 'Role', name: 'first.runledger-ingest' });
    expect(binding['subjects']).to.deep.equal([
      { kind: 'ServiceAccount', name: 'runledger-ingest', namespace: 'first' },
    ]);
  });
});
