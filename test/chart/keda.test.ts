import { expect } from 'chai';
import { queueKey, shardQueue } from '../../internal/queue/keys/keys.ts';
import { renderWith } from '../support/helm.ts';
import { environment, specOf } from '../support/helm-manifests.ts';

const external = ['redis.enabled=false', 'worker.keda.enabled=true', 'externalRedis.host=redis'];
const withTls = [...external, 'externalRedis.tls=true'];
const withUrl = ['redis.enabled=false', 'worker.keda.enabled=true', 'externalRedis.urlSecret.name=redis'];
const credentials = ['externalRedis.credentialsSecret.name=redis', 'externalRedis.credentialsSecret.usernameKey=user'];
const own = [
  'worker.keda.authenticationRef.name=own',
  'worker.keda.authenticationRef.kind=ClusterTriggerAuthentication',
];
const address = 'worker.keda.redisAddress=a:6379\\,b:6379';
const sentinels = 's-0.runledger.svc:26379,s-1.runledger.svc:26379';

/** The values, a part of each trigger, and the TriggerAuthentication that the chart makes. */
const cases: [title: string, values: string[], trigger: object, authentication?: object][] = [
  [
    'an external Redis Cluster, with an authentication of the user',
    [...withUrl, address, 'worker.keda.redisCluster=true', 'worker.keda.redisTls=true', own[0] ?? ''],
    {
      type: 'redis-cluster',
      metadata: { addresses: 'a:6379,b:6379', enableTLS: 'true' },
      authenticationRef: { name: 'own' },
    },
  ],
  ...[[...external, ...credentials], ['worker.keda.enabled=true']].map((redis): [string, string[], object] => [
    `the authentication of the user where the chart could make one: ${redis.join(' ')}`,
    [...redis, ...own],
    { authenticationRef: { name: 'own', kind: 'ClusterTriggerAuthentication' } },
  ]),
  [
    'the full name of Redis, since KEDA runs in another namespace',
    external,
    { metadata: { address: 'redis.runledger.svc:6379' } },
  ],
  ...(['secret', 'configMap'] as const).map((kind): [string, string[], object, object] => [
    `the CA of a Redis with TLS, from a ${kind}`,
    [...withTls, `caBundle.${kind}=internal-ca`, 'caBundle.key=root.pem'],
    { metadata: { enableTLS: 'true' }, authenticationRef: { name: 'runledger-worker' } },
    { [`${kind}TargetRef`]: [{ parameter: 'ca', name: 'internal-ca', key: 'root.pem' }] },
  ]),
  [
    'the CA beside the credentials',
    [...withTls, ...credentials, 'caBundle.configMap=ca'],
    {},
    {
      secretTargetRef: [
        { parameter: 'password', name: 'redis', key: 'password' },
        { parameter: 'username', name: 'redis', key: 'user' },
      ],
      configMapTargetRef: [{ parameter: 'ca', name: 'ca', key: 'ca.crt' }],
    },
  ],
  [
    'the CA for an address of its own',
    [...withUrl, address, 'worker.keda.redisTls=true', 'caBundle.secret=ca'],
    {},
    { secretTargetRef: [{ parameter: 'ca', name: 'ca', key: 'ca.crt' }] },
  ],
  [
    'the Sentinels and their password, and the name of the master',
    [
      ...external.slice(0, 2),
      'externalRedis.host=mymaster',
      'externalRedis.sentinels={s-0:26379,s-1:26379}',
      'externalRedis.sentinelSecret.name=sentinels',
    ],
    {
      type: 'redis-sentinel',
      metadata: { addresses: sentinels, sentinelMaster: 'mymaster', databaseIndex: '0' },
    },
    { secretTargetRef: [{ parameter: 'sentinelPassword', name: 'sentinels', key: 'password' }] },
  ],
  ['no CA for an address without TLS', [...withUrl, address, 'caBundle.secret=ca'], {}],
];

describe('chart, KEDA gets', () => {
  for (const [title, values, trigger, authentication] of cases) {
    it(title, async () => {
      const manifests = await renderWith(...values);
      const { triggers } = specOf<{ triggers: object[] }>(manifests, 'ScaledObject', 'runledger-worker');
      expect(triggers).to.have.length(2);
      for (const each of triggers) expect(each).to.containSubset(trigger);
      const made = manifests.filter(({ kind }) => kind === 'TriggerAuthentication').map(({ spec }) => spec);
      expect(made).to.deep.equal(authentication === undefined ? [] : [authentication]);
    });
  }

  const scaled = async (...values: string[]) =>
    specOf<object>(await renderWith(...values), 'ScaledObject', 'runledger-worker');

  it('the lists of all shards, and adds up their jobs', async () => {
    const formula = 'max((delayed_0 + delayed_1) / 500, (wait_0 + wait_1) / 50)';
    const trigger = (name: string, address: string) => ({ name, metadata: { address } });
    const lists = (...addresses: string[]) =>
      addresses.flatMap((address, shard) => ['delayed', 'wait'].map((list) => trigger(`${list}_${shard}`, address)));
    expect(
      await scaled('shards-keda', 'worker.keda.behavior.scaleDown.stabilizationWindowSeconds=60'),
    ).to.containSubset({
      advanced: {
        horizontalPodAutoscalerConfig: {
          behavior: { scaleDown: { stabilizationWindowSeconds: 60 } },
        },
        scalingModifiers: { formula, target: '1', metricType: 'AverageValue' },
      },
      triggers: lists('redis-a.databases.svc:6379', 'redis-b.databases.svc:6380'),
    });
    expect(await scaled(...withUrl, 'worker.keda.redisAddress=a:1 b:2')).to.containSubset({
      advanced: { scalingModifiers: { formula } },
      triggers: lists('a:1', 'b:2'),
    });
  });

  it('the lists of all shards inside a Redis Cluster, which the processes know too', async () => {
    const manifests = await renderWith('redis-cluster', 'externalRedis.shards={a\\,b:6380}', 'config.queueShards=16');
    const { triggers } = specOf<{ triggers: { name: string; metadata: Record<string, string> }[] }>(
      manifests,
      'ScaledObject',
      'runledger-worker',
    );
    for (const trigger of triggers) {
      const addresses = 'a.runledger.svc:6379,b.runledger.svc:6380';
      expect(trigger).to.deep.include({
        type: 'redis-cluster',
        authenticationRef: { name: 'runledger-worker' },
      });
      expect(trigger.metadata).to.include({ addresses, enableTLS: 'false' }).and.not.have.property('databaseIndex');
    }
    const lists = Array.from({ length: 16 }, (_, shard) =>
      ['delayed', 'wait'].map((list) => [`${list}_${shard}`, queueKey(shardQueue('events', shard), list)]),
    );
    expect(triggers.map(({ name, metadata }) => [name, metadata['listName']])).to.deep.equal(lists.flat());
    for (const name of ['ingest', 'worker', 'controller']) {
      expect(environment(manifests, `runledger-${name}`)).to.include({ QUEUE_SHARDS: '16' });
    }
  });

  it('the lists that BullMQ uses, and at least one worker', async () => {
    const spec = specOf<object>(await renderWith('worker.keda.enabled=true'), 'ScaledObject', 'runledger-worker');
    const lists = ['delayed', 'wait'].map((list) => ({
      metadata: { listName: queueKey('events', list) },
    }));
    expect(spec).to.containSubset({ minReplicaCount: 1, triggers: lists });
  });
});
