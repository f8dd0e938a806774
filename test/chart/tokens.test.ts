import { expect } from 'chai';
import { render, renderWith, withValues } from '../support/helm.ts';
import { environment, objectOf, thePod } from '../support/helm-manifests.ts';

describe('chart, tokens', () => {
  it('lets ingest and console read Secrets and write Events in the tokens namespace, and the worker nothing', async () => {
    const manifests = await renderWith('external-services');
    const roles = manifests.filter(({ kind }) => kind === 'Role');
    expect(roles).to.have.length(2);
    for (const name of ['ingest', 'console']) {
      expect(objectOf(roles, 'Role', `runledger.runledger-${name}`)).to.containSubset({
        metadata: { namespace: 'runledger-tokens' },
        rules: [
          { apiGroups: [''], resources: ['secrets'], verbs: ['list', 'watch'] },
          { apiGroups: [''], resources: ['events'], verbs: ['create'] },
        ],
      });
      expect(objectOf(manifests, 'RoleBinding', `runledger.runledger-${name}`)['subjects']).to.deep.equal([
        { kind: 'ServiceAccount', name: `runledger-${name}`, namespace: 'runledger' },
      ]);
    }
    expect(thePod(manifests, 'runledger-worker')).to.include({ automountServiceAccountToken: false });
    expect(thePod(manifests, 'runledger-worker')).not.to.have.property('serviceAccountName');
    expect(environment(manifests, 'runledger-ingest')).to.include({
      TOKENS_NAMESPACE: 'runledger-tokens',
      TOKENS_LABEL_SELECTOR: 'runledger.dev/organization',
    });
  });

  it('lets the controller write Secrets there only where owners manage organizations', async () => {
    const oidc = ['issuer=https://login.example.com', 'clientId=runledger', 'organizations.ops.organization=acme'];
    const values = oidc.map((value) => `console.oidc.${value}`);
    const [owner, reader] = ['owner', 'reader'].map((role) => [
      ...values,
      `console.oidc.organizations.ops.role=${role}`,
    ]);
    const name = 'runledger.runledger-controller';
    const manifests = await renderWith('external-services', ...(owner ?? []));
    expect(objectOf(manifests, 'Role', name)).to.containSubset({
      metadata: { namespace: 'runledger-tokens' },
      rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['list', 'create', 'patch'] }],
    });
    expect(environment(manifests, 'runledger-controller')).to.include({
      TOKENS_NAMESPACE: 'runledger-tokens',
      OIDC_CLIENT_ID: 'runledger',
    });
    for (const without of [reader ?? [], [...(owner ?? []), 'console.manage=false']]) {
      const others = await renderWith('external-services', ...without);
      expect(others.some((object) => object.kind === 'Role' && object.metadata.name === name)).to.equal(false);
      expect(environment(others, 'runledger-controller')).to.not.have.property('OIDC_ISSUER');
    }
  });

  it('creates a demo organization only if demo.enabled is set', async () => {
    const demo = async (...values: string[]) =>
      (await renderWith(...values)).find(({ kind, metadata }) => kind === 'Secret' && /demo/.test(metadata.name));
    expect(await demo()).to.equal(undefined);
    const [token, read] = ['sixteen-letters!', 'another-sixteen!'].map((text) => Buffer.from(text).toString('base64'));
    const given = ['demo.enabled=true', 'demo.token=sixteen-letters!', 'demo.readToken=another-sixteen!'];
    expect(await demo(...given)).to.deep.include({ data: { token, 'read-token': read } });
  });

  it("labels the Secrets it makes so that ingest's selector finds them", async () => {
    const selector = 'tokens.labelSelector=example.com/org\\,stage=prod\\,tier!=old';
    const manifests = await renderWith(selector, 'demo.enabled=true');
    for (const [name, organization] of [
      ['runledger-demo', 'demo'],
      ['runledger-test', 'helm-test'],
    ] as const) {
      const { labels } = objectOf(manifests, 'Secret', name).metadata;
      expect(labels).to.include({ 'example.com/org': organization, stage: 'prod' });
      expect(labels).not.to.have.any.keys('runledger.dev/organization', 'tier', 'tier!');
    }
  });

  it('lets releases of different namespaces share a tokens namespace', async () => {
    const shared = withValues('tokens.namespace=tokens', 'demo.enabled=true');
    const rendered = (namespace: string) => render([...shared, '--namespace', namespace]);
    const objects = async (namespace: string): Promise<string[]> =>
      (await rendered(namespace))
        .filter(({ metadata }) => metadata.namespace === 'tokens')
        .map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    const [first, second, own] = [await objects('first'), await objects('second'), await objects('tokens')];
    const names = [
      'Role ingest',
      'RoleBinding ingest',
      'Role console',
      'RoleBinding console',
      'Secret demo',
      'Secret test',
    ];
    expect(first).to.have.members(names.map((name) => name.replace(' ', ' first.runledger-')));
    // A release whose own namespace holds the tokens shares them, too.
    const all = [...first, ...second, ...own];
    expect(all).to.have.length(new Set(all).size);
    expect(objectOf(await rendered('first'), 'RoleBinding', 'first.runledger-ingest')).to.containSubset({
      roleRef: { kind: 'Role', name: 'first.runledger-ingest' },
      subjects: [{ kind: 'ServiceAccount', name: 'runledger-ingest', namespace: 'first' }],
    });
  });
});
