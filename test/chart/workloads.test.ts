import { expect } from 'chai';
import { render, renderWith } from '../support/helm.ts';
import { environment, objectOf, podsOf, specOf, theContainer, thePod } from '../support/helm-manifests.ts';

describe('chart, workloads', () => {
  for (const [name, own] of [
    ['ingest', { REQUIRE_DURABLE_REDIS: 'true' }],
    ['worker', { RETENTION_DAYS: '30' }],
  ] as const) {
    it(`runs ${name} by its command, names the queue, and probes the ops port`, async () => {
      const manifests = await renderWith('config.queueName=audit', 'config.retentionDays=30');
      expect(theContainer(manifests, `runledger-${name}`)).to.containSubset({
        command: ['node'],
        args: [`cmd/${name}/main.ts`],
        livenessProbe: { httpGet: { path: '/healthz', port: 'ops' } },
        readinessProbe: { httpGet: { path: '/readyz', port: 'ops' } },
        startupProbe: { httpGet: { path: '/healthz', port: 'ops' } },
      });
      const common = { OPS_PORT: '9090', LOG_LEVEL: 'info', QUEUE_NAME: 'audit' };
      expect(environment(manifests, `runledger-${name}`)).to.include({ ...common, ...own });
    });
  }

  it('starts a new pod before it stops an old one, and lets it finish', async () => {
    const manifests = await render();
    expect(specOf(manifests, 'Deployment', 'runledger-ingest')).to.deep.include({
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
    });
    expect(theContainer(manifests, 'runledger-ingest').lifecycle?.preStop?.exec?.command).to.deep.equal(['sleep', '5']);
    expect(thePod(manifests, 'runledger-ingest').terminationGracePeriodSeconds).to.be.greaterThan(5 + 25);
    expect(specOf(manifests, 'PodDisruptionBudget', 'runledger-ingest')).to.include({ maxUnavailable: 1 });
  });

  it('spreads the pods of each component over zones and nodes', async () => {
    const labelSelector = { matchLabels: { 'app.kubernetes.io/component': 'worker' } };
    expect(thePod(await render(), 'runledger-worker').topologySpreadConstraints).to.containSubset([
      { topologyKey: 'topology.kubernetes.io/zone', labelSelector },
      { topologyKey: 'kubernetes.io/hostname', labelSelector },
    ]);
  });

  it('leaves the number of pods to the autoscaler', async () => {
    expect(specOf(await render(), 'Deployment', 'runledger-ingest')).to.include({ replicas: 2 });
    const scaled = await renderWith('ha');
    for (const name of ['runledger-ingest', 'runledger-worker']) {
      expect(specOf(scaled, 'Deployment', name)).not.to.have.property('replicas');
      const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name };
      expect(specOf(scaled, 'HorizontalPodAutoscaler', name)).to.deep.include({ scaleTargetRef, minReplicas: 3 });
    }
    const keda = await renderWith('keda');
    expect(specOf(keda, 'Deployment', 'runledger-worker')).not.to.have.property('replicas');
    expect(keda.filter(({ kind }) => kind === 'HorizontalPodAutoscaler')).to.have.length(1);
  });

  it('leaves the user of its pods to a cluster that chooses it', async () => {
    const fields = ['runAsUser', 'runAsGroup', 'fsGroup'];
    const manifests = await renderWith(...fields.map((field) => `podSecurityContext.${field}=null`));
    for (const name of ['runledger-ingest', 'runledger-worker', 'runledger-test']) {
      expect(thePod(manifests, name).securityContext).to.include({ runAsNonRoot: true });
      expect(thePod(manifests, name).securityContext).not.to.have.any.keys(...fields);
    }
  });

  it('restarts no database for a new version of Runledger', async () => {
    const manifests = await render();
    for (const name of ['runledger-redis', 'runledger-postgresql']) {
      const { template } = specOf<{ template: { metadata: { labels: object } } }>(manifests, 'StatefulSet', name);
      expect(template.metadata.labels).not.to.have.property('app.kubernetes.io/version');
    }
  });

  it('runs its test where the image runs', async () => {
    const { spec } = objectOf(await renderWith('ha'), 'Pod', 'runledger-test');
    expect(spec).to.deep.include({ nodeSelector: { 'kubernetes.io/arch': 'amd64' } });
    expect(spec).to.have.property('tolerations').with.length(1);
  });

  it('accepts pull secrets as names or objects, for every pod', async () => {
    const secrets = ['global.imagePullSecrets={shared}', 'imagePullSecrets[0].name=own', 'imagePullSecrets[1]=shared'];
    const pods = podsOf(await renderWith(...secrets));
    expect(pods.map(({ name }) => name)).to.have.length(5);
    for (const { spec } of pods) {
      expect(spec).to.deep.include({ imagePullSecrets: [{ name: 'shared' }, { name: 'own' }] });
    }
  });

  it('mirrors every image from one registry, and pins by digest', async () => {
    const manifests = await renderWith('global.imageRegistry=mirror.example.com/hub');
    const image = (name: string): string => theContainer(manifests, name).image;
    expect(image('runledger-ingest')).to.equal('mirror.example.com/hub/runledger/runledger:0.1.0');
    expect(image('runledger-redis')).to.match(/^mirror\.example\.com\/hub\/valkey\/valkey:/);
    expect(image('runledger-postgresql')).to.match(/^mirror\.example\.com\/hub\/library\/postgres:/);
  });
});
