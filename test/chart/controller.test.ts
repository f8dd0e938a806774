import { expect } from 'chai';
import { renderWith } from '../support/helm.ts';
import { environment, objectOf, type Manifest } from '../support/helm-manifests.ts';

const name = 'runledger.runledger-controller';
const rulesOf = (manifests: readonly Manifest[], kind: string, of = name, namespace?: string): unknown =>
  manifests.find((one) => one.kind === kind && one.metadata.name === of && one.metadata.namespace === namespace)?.[
    'rules'
  ];

const ofResources = [
  { apiGroups: ['runledger.dev'], resources: ['automations', 'channels'], verbs: ['list', 'watch'] },
  { apiGroups: ['runledger.dev'], resources: ['automations/status', 'channels/status'], verbs: ['patch'] },
  { apiGroups: [''], resources: ['events'], verbs: ['create'] },
];
const ofNamespaces = { apiGroups: [''], resources: ['namespaces'], verbs: ['list', 'watch'] };

describe('chart, controller', () => {
  it('may follow its resources everywhere, and read no Secret', async () => {
    const manifests = await renderWith('default');
    expect(rulesOf(manifests, 'ClusterRole')).to.deep.equal([ofNamespaces, ...ofResources]);
    expect(objectOf(manifests, 'ClusterRoleBinding', name)['subjects']).to.deep.equal([
      { kind: 'ServiceAccount', name: 'runledger-controller', namespace: 'runledger' },
    ]);
    expect(environment(manifests, 'runledger-controller')).to.include({
      QUEUE_NAME: 'events',
      CONSOLE_PUBLIC_URL: 'https://runledger-console.runledger.svc',
      METRICS_AUTOMATIONS: '0',
    });
    expect(environment(manifests, 'runledger-controller')).not.to.have.any.keys(
      'ALERTMANAGER_URLS',
      'AUTOMATIONS_NAMESPACES',
      'CAPTURE_JOBS',
      'CHANNEL_ALLOW_PRIVATE',
    );
  });

  it('may follow the resources of some namespaces only', async () => {
    const manifests = await renderWith('controller.namespaces={acme,globex}');
    expect(rulesOf(manifests, 'ClusterRole')).to.deep.equal([{ ...ofNamespaces, resourceNames: ['acme', 'globex'] }]);
    for (const namespace of ['acme', 'globex']) {
      expect(rulesOf(manifests, 'Role', name, namespace)).to.deep.equal(ofResources);
    }
    expect(environment(manifests, 'runledger-controller')).to.include({ AUTOMATIONS_NAMESPACES: 'acme,globex' });
  });

  it('may read Jobs, CronJobs and Pods only to capture Jobs', async () => {
    const ofJobs = [
      { apiGroups: ['batch'], resources: ['jobs', 'cronjobs'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch'] },
    ];
    const everywhere = await renderWith('controller.captureJobs.enabled=true');
    expect(rulesOf(everywhere, 'ClusterRole')).to.deep.equal([ofNamespaces, ...ofResources, ...ofJobs]);
    expect(environment(everywhere, 'runledger-controller')).to.include({
      CAPTURE_JOBS: 'true',
      IDEMPOTENCY_HOURS: '24',
      REQUIRE_DURABLE_REDIS: 'true',
    });
    const inOne = await renderWith('controller.captureJobs.enabled=true', 'controller.namespaces={acme}');
    expect(rulesOf(inOne, 'ClusterRole')).to.deep.equal([{ ...ofNamespaces, resourceNames: ['acme'] }]);
    expect(rulesOf(inOne, 'Role', name, 'acme')).to.deep.equal([...ofResources, ...ofJobs]);
  });

  it('may get the Secrets that the values name', async () => {
    const secret = (index: number, namespace: string, of: string): string[] => [
      `controller.channelSecrets[${index}].namespace=${namespace}`,
      `controller.channelSecrets[${index}].name=${of}`,
    ];
    const manifests = await renderWith(
      ...secret(0, 'acme', 'a'),
      ...secret(1, 'acme', 'b'),
      ...secret(2, 'globex', 'a'),
    );
    const rules = (resourceNames: string[]) => [
      { apiGroups: [''], resources: ['secrets'], resourceNames, verbs: ['get'] },
    ];
    expect(rulesOf(manifests, 'Role', `${name}-secrets`, 'acme')).to.deep.equal(rules(['a', 'b']));
    expect(rulesOf(manifests, 'Role', `${name}-secrets`, 'globex')).to.deep.equal(rules(['a']));
  });

  it('reaches Alertmanager and channels', async () => {
    const urls = 'controller.alertmanagerUrls={http://a:9094,https://b}';
    const manifests = await renderWith(urls, 'controller.channels.allowPrivate=true');
    expect(environment(manifests, 'runledger-controller')).to.include({
      ALERTMANAGER_URLS: 'http://a:9094,https://b',
      CHANNEL_ALLOW_PRIVATE: 'true',
    });
    const { egress } = objectOf(manifests, 'NetworkPolicy', 'runledger-controller')['spec'] as {
      egress: { ports: { port: number }[]; to?: { ipBlock?: { except: string[] } }[] }[];
    };
    const ports = egress.map((rule) => rule.ports.map(({ port }) => port).join());
    expect(ports).to.include.members(['9093,9094,443', '443']);
    const toInternet = egress.find(({ to }) => to?.some(({ ipBlock }) => ipBlock !== undefined));
    expect(toInternet?.to?.[0]?.ipBlock?.except).to.include('10.0.0.0/8');
  });

  it('is left out with controller.enabled=false, and nothing of it remains', async () => {
    const manifests = await renderWith('controller.enabled=false');
    expect(manifests.filter(({ metadata }) => metadata.name.includes('controller'))).to.deep.equal([]);
  });
});
