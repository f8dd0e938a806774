import { expect } from 'chai';
import { render, renderWith } from '../support/helm.ts';
import { environment, podsOf, specOf, theContainer, thePod } from '../support/helm-manifests.ts';
import { ownVersion } from '../support/version.ts';

describe('chart, workloads', () => {
  const values = [
    'config.queueName=audit',
    'config.retentionDays=30',
    'config.idempotencyHours=72',
    'config.organizationRate=2000000',
    'config.overflowRate=3000000',
  ];
  it('gives workers, and nobody else, the key of the log from its Secret; ingest makes digests then', async () => {
    const witnesses = ['file:///log', 'https://witness.example#key'];
    const manifests = await renderWith(
      'config.ledgerKeySecret=runledger-ledger-key',
      'controller.captureJobs.enabled=true',
      ...witnesses.map((witness, at) => `config.ledgerWitnesses[${at}]=${witness}`),
    );
    expect(environment(manifests, 'runledger-worker')).to.include({
      LEDGER_KEY: 'runledger-ledger-key/ledger-key',
      LEDGER_WITNESSES: witnesses.join(' '),
    });
    const ingest = environment(manifests, 'runledger-ingest');
    expect(ingest).not.to.have.property('LEDGER_KEY');
    for (const name of ['ingest', 'controller']) {
      expect(environment(manifests, `runledger-${name}`), name).to.include({ LEDGER_DIGESTS: 'true' });
    }
    expect(environment(await render(), 'runledger-ingest')).not.to.have.property('LEDGER_DIGESTS');
  });

  for (const [name, own] of [
    [
      'ingest',
      {
        REQUIRE_DURABLE_REDIS: 'true',
        IDEMPOTENCY_HOURS: '72',
        ORGANIZATION_RATE: '2000000',
        OVERFLOW_RATE: '3000000',
      },
    ],
    ['worker', { RETENTION_DAYS: '30' }],
  ] as const) {
    it(`runs ${name} by its command, names the queue, and probes the ops port`, async () => {
      const manifests = await renderWith(...values);
      // Without a command: the image's ENTRYPOINT stays.
      expect(theContainer(manifests, `runledger-${name}`)).not.to.have.property('command');
      expect(theContainer(manifests, `runledger-${name}`)).to.containSubset({
        args: [`cmd/${name}/main.ts`],
        livenessProbe: { httpGet: { path: '/healthz', port: 'ops' } },
        readinessProbe: { httpGet: { path: '/readyz', port: 'ops' } },
        startupProbe: { httpGet: { path: '/healthz', port: 'ops' } },
      });
      const common = { OPS_PORT: '9090', LOG_LEVEL: 'info', QUEUE_NAME: 'audit' };
      expect(environment(manifests, `runledger-${name}`)).to.include({ ...common, ...own });
    });
  }

  it('kills a pod whose event loop hangs sooner than one that stops, but a worker may still commit', async () => {
    const manifests = await render();
    for (const name of ['runledger-ingest', 'runledger-console', 'runledger-controller']) {
      expect(theContainer(manifests, name), name).to.containSubset({
        livenessProbe: { terminationGracePeriodSeconds: 10 },
      });
      expect(thePod(manifests, name).terminationGracePeriodSeconds, name).to.be.at.least(30);
    }
    const worker = theContainer(manifests, 'runledger-worker') as { livenessProbe?: object };
    expect(worker.livenessProbe).not.to.have.property('terminationGracePeriodSeconds');
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

  it('accepts pull secrets as names or objects, for every pod', async () => {
    const secrets = ['global.imagePullSecrets={shared}', 'imagePullSecrets[0].name=own', 'imagePullSecrets[1]=shared'];
    const pods = podsOf(await renderWith(...secrets));
    expect(pods.map(({ name }) => name)).to.have.length(7);
    for (const { spec } of pods) {
      expect(spec).to.deep.include({ imagePullSecrets: [{ name: 'shared' }, { name: 'own' }] });
    }
  });

  it('mirrors every image from one registry, and pins by digest', async () => {
    const manifests = await renderWith('global.imageRegistry=mirror.example.com/hub');
    const image = (name: string): string => theContainer(manifests, name).image;
    expect(image('runledger-ingest')).to.equal(`mirror.example.com/hub/runledger/runledger:${await ownVersion()}`);
    expect(image('runledger-redis')).to.match(/^mirror\.example\.com\/hub\/valkey\/valkey:/);
    expect(image('runledger-postgresql')).to.match(/^mirror\.example\.com\/hub\/library\/postgres:/);
  });
});
