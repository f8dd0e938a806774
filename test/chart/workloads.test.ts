import { expect } from 'chai';
import { render, valuesOf } from '../support/helm.ts';
import { environmentOf, podsOf, objectOf, theContainer, thePod, type Manifest } from '../support/helm-manifests.ts';

interface Deployment {
  replicas?: number;
  strategy: unknown;
}
const deployment = (manifests: Manifest[], name: string): Deployment =>
  objectOf(manifests, 'Deployment', `runledger-${name}`)['spec'] as Deployment;

describe('chart, workloads', () => {
  it('runs each process by its command, and names the queue', async () => {
    const manifests = await render(['--set', 'config.queueName=audit', '--set', 'config.retentionDays=30']);
    for (const name of ['ingest', 'worker']) {
      const container = theContainer(manifests, `runledger-${name}`);
      expect(container.command).to.deep.equal(['node']);
      expect(container.args).to.deep.equal([`cmd/${name}/main.ts`]);
      expect(environmentOf(container)).to.include({ OPS_PORT: '9090', LOG_LEVEL: 'info', QUEUE_NAME: 'audit' });
    }
    expect(environmentOf(theContainer(manifests, 'runledger-ingest'))).to.include({ REQUIRE_DURABLE_REDIS: 'true' });
    expect(environmentOf(theContainer(manifests, 'runledger-worker'))).to.include({ RETENTION_DAYS: '30' });
  });

  it('probes liveness and readiness on the ops port', async () => {
    const manifests = await render();
    for (const name of ['ingest', 'worker']) {
      const container = theContainer(manifests, `runledger-${name}`);
      expect(container['livenessProbe']).to.deep.include({ httpGet: { path: '/healthz', port: 'ops' } });
      expect(container['readinessProbe']).to.deep.include({ httpGet: { path: '/readyz', port: 'ops' } });
      expect(container['startupProbe']).to.deep.include({ httpGet: { path: '/healthz', port: 'ops' } });
    }
  });

  it('starts a new pod before it stops an old one, and lets it finish', async () => {
    const manifests = await render();
    expect(deployment(manifests, 'ingest').strategy).to.deep.equal({
      type: 'RollingUpdate',
      rollingUpdate: { maxUnavailable: 0, maxSurge: 1 },
    });
    expect(theContainer(manifests, 'runledger-ingest').lifecycle?.preStop?.exec?.command).to.deep.equal(['sleep', '5']);
    expect(thePod(manifests, 'runledger-ingest').terminationGracePeriodSeconds).to.be.greaterThan(5 + 25);
    expect(objectOf(manifests, 'PodDisruptionBudget', 'runledger-ingest')['spec']).to.include({ maxUnavailable: 1 });
  });

  it('spreads the pods of each component over zones and nodes', async () => {
    const constraints = thePod(await render(), 'runledger-worker').topologySpreadConstraints ?? [];
    expect(constraints.map(({ topologyKey }) => topologyKey)).to.deep.equal([
      'topology.kubernetes.io/zone',
      'kubernetes.io/hostname',
    ]);
    for (const { labelSelector } of constraints) {
      expect(labelSelector).to.have.nested.property('matchLabels.app\\.kubernetes\\.io/component', 'worker');
    }
  });

  it('leaves the number of pods to the autoscaler', async () => {
    expect(deployment(await render(), 'ingest').replicas).to.equal(2);
    const scaled = await render(['--values', valuesOf('ha')]);
    for (const name of ['ingest', 'worker']) {
      expect(deployment(scaled, name)).not.to.have.property('replicas');
      const { spec } = objectOf(scaled, 'HorizontalPodAutoscaler', `runledger-${name}`) as unknown as { spec: unknown };
      expect(spec).to.deep.include({
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: `runledger-${name}` },
        minReplicas: 3,
      });
    }
    const keda = await render(['--values', valuesOf('keda')]);
    expect(deployment(keda, 'worker')).not.to.have.property('replicas');
    expect(keda.filter(({ kind }) => kind === 'HorizontalPodAutoscaler')).to.have.length(1);
  });

  it('leaves the user of its pods to a cluster that chooses it', async () => {
    const fields = ['runAsUser', 'runAsGroup', 'fsGroup'];
    const chosen = fields.flatMap((field) => ['--set', `podSecurityContext.${field}=null`]);
    const manifests = await render(chosen);
    for (const name of ['runledger-ingest', 'runledger-worker', 'runledger-test']) {
      expect(thePod(manifests, name).securityContext).to.include({ runAsNonRoot: true });
      expect(thePod(manifests, name).securityContext).not.to.have.any.keys(...fields);
    }
  });

  it('restarts no database for a new version of Runledger', async () => {
    const manifests = await render();
    for (const { kind, spec } of manifests as unknown as {
      kind: string;
      spec: { template: { metadata: { labels: object } } };
    }[]) {
      if (kind !== 'StatefulSet') continue;
      expect(spec.template.metadata.labels).not.to.have.property('app.kubernetes.io/version');
    }
  });

  it('runs its test where the image runs', async () => {
    const { nodeSelector, tolerations } = objectOf(await render(['--values', valuesOf('ha')]), 'Pod', 'runledger-test')[
      'spec'
    ] as { nodeSelector: unknown; tolerations: unknown };
    expect(nodeSelector).to.deep.equal({ 'kubernetes.io/arch': 'amd64' });
    expect(tolerations).to.have.length(1);
  });

  it('accepts pull secrets as names or objects, for every pod', async () => {
    const secrets = ['global.imagePullSecrets={shared}', 'imagePullSecrets[0].name=own', 'imagePullSecrets[1]=shared'];
    const pods = podsOf(await render(secrets.flatMap((value) => ['--set', value])));
    expect(pods.map(({ name }) => name)).to.have.length(5);
    for (const { name, spec } of pods) {
      expect((spec as { imagePullSecrets?: unknown }).imagePullSecrets, name).to.deep.equal([
        { name: 'shared' },
        { name: 'own' },
      ]);
    }
  });

  it('mirrors every image from one registry, and pins by digest', async () => {
    const manifests = await render(['--set', 'global.imageRegistry=mirror.example.com/hub']);
    const image = (name: string): string => theContainer(manifests, name).image;
    expect(image('runledger-ingest')).to.equal('mirror.example.com/hub/runledger/runledger:0.1.0');
    expect(image('runledger-redis')).to.match(/^mirror\.example\.com\/hub\/valkey\/valkey:/);
    expect(image('runledger-postgresql')).to.match(/^mirror\.example\.com\/hub\/library\/postgres:/);
  });
});
