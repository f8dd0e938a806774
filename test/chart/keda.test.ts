import { expect } from 'chai';
import { queueKey } from '../../internal/queue/keys.ts';
import { render, valuesOf } from '../support/helm.ts';
import { objectOf, type Manifest } from '../support/helm-manifests.ts';

interface Trigger {
  readonly metadata: Readonly<Record<string, string>>;
  readonly authenticationRef?: unknown;
}

function triggersOf(manifests: readonly Manifest[]): Trigger[] {
  return (objectOf(manifests, 'ScaledObject', 'runledger-worker')['spec'] as { triggers: Trigger[] }).triggers;
}

function renderWith(values: readonly string[]): Promise<Manifest[]> {
  return render(values.flatMap((value) => ['--set', value]));
}

describe('chart, KEDA', () => {
  it('scales workers by the lists that BullMQ uses, to at least one', async () => {
    const manifests = await render(['--values', valuesOf('keda')]);
    const { spec } = objectOf(manifests, 'ScaledObject', 'runledger-worker') as unknown as {
      spec: { minReplicaCount: number; triggers: { type: string; metadata: Record<string, string> }[] };
    };
    expect(spec.minReplicaCount).to.equal(1);
    expect(spec.triggers.map(({ metadata }) => metadata['listName'])).to.have.members([
      queueKey('events', 'delayed'),
      queueKey('events', 'wait'),
    ]);
    for (const { type, metadata } of spec.triggers) {
      expect(type).to.equal('redis');
      expect(metadata['address']).to.equal('runledger-redis.runledger.svc:6379');
    }
    expect(objectOf(manifests, 'TriggerAuthentication', 'runledger-worker')['spec']).to.deep.equal({
      secretTargetRef: [{ parameter: 'password', name: 'runledger-redis', key: 'password' }],
    });
  });

  it('gives KEDA the address of an external Redis', async () => {
    const external = ['redis.enabled=false', 'worker.keda.enabled=true', 'externalRedis.urlSecret.name=redis'];
    const cluster = [
      'worker.keda.redisAddress=a:6379\\,b:6379',
      'worker.keda.redisCluster=true',
      'worker.keda.redisTls=true',
    ];
    const auth = ['worker.keda.authenticationRef.name=redis-auth'];
    const values = [...external, ...cluster, ...auth].flatMap((value) => ['--set', value]);
    const manifests = await render(values);
    const { spec } = objectOf(manifests, 'ScaledObject', 'runledger-worker') as unknown as {
      spec: { triggers: Record<string, unknown>[] };
    };
    expect(spec.triggers[0]).to.deep.include({ type: 'redis-cluster', authenticationRef: { name: 'redis-auth' } });
    expect(spec.triggers[0]?.['metadata']).to.include({ addresses: 'a:6379,b:6379', enableTLS: 'true' });
    expect(manifests.some(({ kind }) => kind === 'TriggerAuthentication')).to.equal(false);
  });

  it("lets KEDA use the user's authentication where the chart could make one", async () => {
    const external = ['redis.enabled=false', 'externalRedis.host=redis', 'externalRedis.credentialsSecret.name=redis'];
    const auth = [
      'worker.keda.authenticationRef.name=own',
      'worker.keda.authenticationRef.kind=ClusterTriggerAuthentication',
    ];
    for (const redis of [external, []]) {
      const values = [...redis, ...auth, 'worker.keda.enabled=true'].flatMap((value) => ['--set', value]);
      const manifests = await render(values);
      const { triggers } = objectOf(manifests, 'ScaledObject', 'runledger-worker')['spec'] as { triggers: object[] };
      expect(triggers).to.have.length(2);
      for (const trigger of triggers) {
        expect(trigger).to.deep.include({ authenticationRef: { name: 'own', kind: 'ClusterTriggerAuthentication' } });
      }
      expect(manifests.some(({ kind }) => kind === 'TriggerAuthentication')).to.equal(false);
    }
  });

  it('completes a short name of Redis for KEDA, which runs in another namespace', async () => {
    const external = ['redis.enabled=false', 'externalRedis.host=redis', 'worker.keda.enabled=true'];
    const manifests = await render(external.flatMap((value) => ['--set', value]));
    const { triggers } = objectOf(manifests, 'ScaledObject', 'runledger-worker')['spec'] as {
      triggers: { metadata: { address: string } }[];
    };
    for (const { metadata } of triggers) expect(metadata.address).to.equal('redis.runledger.svc:6379');
  });

  for (const [kind, field] of [
    ['secret', 'secretTargetRef'],
    ['configMap', 'configMapTargetRef'],
  ] as const) {
    it(`hands KEDA the CA of a Redis with TLS, from a ${kind}`, async () => {
      const redis = ['redis.enabled=false', 'externalRedis.host=redis', 'externalRedis.tls=true'];
      const ca = [`caBundle.${kind}=internal-ca`, 'caBundle.key=root.pem'];
      const manifests = await renderWith([...redis, ...ca, 'worker.keda.enabled=true']);
      expect(objectOf(manifests, 'TriggerAuthentication', 'runledger-worker')['spec']).to.deep.equal({
        [field]: [{ parameter: 'ca', name: 'internal-ca', key: 'root.pem' }],
      });
      for (const { metadata, authenticationRef } of triggersOf(manifests)) {
        expect(authenticationRef).to.deep.equal({ name: 'runledger-worker' });
        expect(metadata['enableTLS']).to.equal('true');
      }
    });
  }

  it('hands KEDA the CA beside the credentials', async () => {
    const redis = ['redis.enabled=false', 'externalRedis.host=redis', 'externalRedis.tls=true'];
    const credentials = [
      'externalRedis.credentialsSecret.name=redis',
      'externalRedis.credentialsSecret.usernameKey=user',
    ];
    const manifests = await renderWith([...redis, ...credentials, 'caBundle.configMap=ca', 'worker.keda.enabled=true']);
    expect(objectOf(manifests, 'TriggerAuthentication', 'runledger-worker')['spec']).to.deep.equal({
      secretTargetRef: [
        { parameter: 'password', name: 'redis', key: 'password' },
        { parameter: 'username', name: 'redis', key: 'user' },
      ],
      configMapTargetRef: [{ parameter: 'ca', name: 'ca', key: 'ca.crt' }],
    });
  });

  it('hands KEDA the CA for an address of its own', async () => {
    const redis = ['redis.enabled=false', 'externalRedis.url=rediss://redis:6379'];
    const keda = ['worker.keda.enabled=true', 'worker.keda.redisAddress=redis:6379', 'caBundle.secret=ca'];
    const made = async (tls: boolean): Promise<unknown> =>
      (await renderWith([...redis, ...keda, `worker.keda.redisTls=${tls}`])).find(
        ({ kind }) => kind === 'TriggerAuthentication',
      )?.['spec'];
    expect(await made(true)).to.deep.equal({ secretTargetRef: [{ parameter: 'ca', name: 'ca', key: 'ca.crt' }] });
    expect(await made(false)).to.equal(undefined);
  });
});
