import { expect } from 'chai';
import { renderWith } from '../support/helm.ts';
import { environment, objectOf, specOf, thePod } from '../support/helm-manifests.ts';

const withSentinels = [
  'redis.enabled=false',
  'externalRedis.host=mymaster',
  'externalRedis.sentinels={s-0:26379,s-1:26379}',
  'externalRedis.sentinelSecret.name=sentinels',
];

/** The values, and what they put into the environment of ingest or of the worker. */
const cases: [title: string, values: string[], name: 'ingest' | 'worker', variables: Record<string, string>][] = [
  [
    'accepts a user name and parameters as values',
    [
      'ha',
      'externalPostgresql.credentialsSecret.usernameKey=',
      'externalPostgresql.username=app@server',
      'externalPostgresql.parameters=options=-c%20jit=off',
    ],
    'worker',
    {
      PGUSER: 'app@server',
      DATABASE_URL: 'postgres://postgres-rw.databases.svc:5432/runledger?options=-c%20jit=off',
    },
  ],
  [
    'accepts files of an injector',
    [
      'redis.enabled=false',
      'externalRedis.urlFile=/vault/redis',
      'postgresql.enabled=false',
      'externalPostgresql.urlFile=/vault/pg',
    ],
    'worker',
    { REDIS_URL_FILE: '/vault/redis', DATABASE_URL_FILE: '/vault/pg' },
  ],
  [
    'accepts plain URLs',
    ['redis.enabled=false', 'externalRedis.url=redis://a:6379\\,redis://b:6379', 'externalRedis.port=6379'],
    'ingest',
    { REDIS_URL: 'redis://a:6379,redis://b:6379' },
  ],
  [
    'accepts a plain URL with a password of its own Secret',
    [
      'redis.enabled=false',
      'externalRedis.url=rediss://a:6379',
      'externalRedis.credentialsSecret.name=redis',
      'externalRedis.credentialsSecret.usernameKey=user',
    ],
    'ingest',
    { REDIS_URL: 'rediss://a:6379', REDIS_USERNAME: 'redis/user', REDIS_PASSWORD: 'redis/password' },
  ],
  [
    'accepts shards of the queue, and former ones',
    ['shards-keda', 'externalRedis.database=1', 'externalRedis.drainedShards={c:6381,redis://d:6379/2,e\\,f:6380}'],
    'worker',
    {
      REDIS_URL: 'rediss://redis-a.databases.svc:6379/1 rediss://redis-b.databases.svc:6380/1',
      REDIS_DRAIN_URL: 'rediss://c:6381/1 redis://d:6379/2 rediss://e,rediss://f:6380',
    },
  ],
  [
    'accepts the nodes of a Redis Cluster as one shard, with a password of its own Secret',
    ['redis-cluster', 'externalRedis.shards={a:6379\\,b:6379}'],
    'ingest',
    { REDIS_URL: 'redis://a:6379,redis://b:6379', REDIS_PASSWORD: 'redis-credentials/password', QUEUE_SHARDS: '3' },
  ],
  [
    'accepts the masters of Sentinels as shards, beside other Redis',
    [
      ...withSentinels.toSpliced(1, 1),
      'externalRedis.shards={one,a:6379\\,b:6379}',
      'externalRedis.drainedShards={c:6379}',
    ],
    'worker',
    {
      REDIS_URL: 'redis://one/0 redis://a:6379,redis://b:6379',
      REDIS_DRAIN_URL: 'redis://c:6379/0',
      REDIS_SENTINELS: 's-0:26379,s-1:26379',
    },
  ],
  [
    'accepts Sentinels, and the acknowledgements of replicas',
    [...withSentinels, 'externalRedis.tls=true', 'config.redisAcks=1'],
    'ingest',
    {
      REDIS_URL: 'rediss://mymaster/0',
      REDIS_SENTINELS: 's-0:26379,s-1:26379',
      REDIS_SENTINEL_PASSWORD: 'sentinels/password',
      REDIS_ACKS: '1',
    },
  ],
  [
    'asks of a worker that moves events the durability that ingest asks for',
    ['redis.enabled=false', 'externalRedis.host=redis', 'config.redisAcks=1'],
    'worker',
    { REDIS_ACKS: '1', REQUIRE_DURABLE_REDIS: 'true' },
  ],
  [
    'accepts the name of a Secret with the password',
    ['postgresql.auth.existingSecret=pg'],
    'worker',
    { PGPASSWORD: 'pg/password' },
  ],
];

describe('chart, Redis and Postgres', () => {
  for (const [title, values, name, variables] of cases) {
    it(title, async () => {
      expect(environment(await renderWith(...values), `runledger-${name}`)).to.include(variables);
    });
  }

  it('gives each process but ingest the addresses of further Postgres, from their Secrets', async () => {
    const manifests = await renderWith(
      'several-databases',
      'otherPostgresql.file.urlSecret.name=file',
      'otherPostgresql.big.sslMode=no-verify',
    );
    const all = ['big=runledger-big-app/uri?sslmode=no-verify', 'eu-west=runledger-eu-app/uri', 'file=file/uri'];
    const urls = { DATABASE_URLS: all.join(' ') };
    for (const name of ['worker', 'controller', 'console', 'export'].map((process) => `runledger-${process}`)) {
      expect(environment(manifests, name), name).to.include(urls);
    }
    expect(environment(manifests, 'runledger-console')).to.include({
      CONSOLE_DATABASE_URLS: 'eu-west=runledger-eu-reader/uri',
    });
    expect(environment(manifests, 'runledger-ingest')).not.to.have.any.keys('DATABASE_URLS');
  });

  it('never gives ingest the address of Postgres', async () => {
    const variables = environment(await renderWith(), 'runledger-ingest');
    expect(variables).not.to.have.any.keys('DATABASE_URL', 'PGPASSWORD');
  });

  for (const [kind, source] of [
    ['secret', 'secretName'],
    ['configMap', 'name'],
  ] as const) {
    it(`mounts an authority's certificate from a ${kind}, and not the key that may lie beside it`, async () => {
      const manifests = await renderWith(`caBundle.${kind}=runledger-db-ca`);
      const items = [{ key: 'ca.crt', path: 'ca.crt' }];
      for (const name of ['runledger-ingest', 'runledger-worker']) {
        const volume = { name: 'ca', [kind]: { [source]: 'runledger-db-ca', items } };
        expect(thePod(manifests, name).volumes).to.deep.include(volume);
      }
    });
  }

  it('runs a durable Redis, with maxmemory below its memory limit', async () => {
    const manifests = await renderWith('redis.resources.limits.memory=1Gi');
    const { 'redis.conf': config = '' } = objectOf(manifests, 'ConfigMap', 'runledger-redis')['data'] as Record<
      string,
      string
    >;
    const lines = ['appendonly yes', 'appendfsync always', 'maxmemory-policy noeviction'];
    expect(config.split('\n')).to.include.members([...lines, `maxmemory ${Math.floor(0.6 * 1024 ** 3)}`]);
  });

  it('keeps the data of both on volumes, and restarts Redis when its configuration changes', async () => {
    const checksum = async (...values: string[]) => {
      const spec = specOf<{
        template: { metadata: { annotations: Record<string, string> } };
        volumeClaimTemplates: unknown[];
      }>(await renderWith(...values), 'StatefulSet', 'runledger-redis');
      expect(spec.volumeClaimTemplates).to.have.length(1);
      return spec.template.metadata.annotations['checksum/config'];
    };
    expect(await checksum()).to.equal(await checksum('redis.resources.limits.cpu=1'));
    expect(await checksum()).not.to.equal(await checksum('redis.resources.limits.memory=1Gi'));
  });

  it('keeps the password of Postgres as long as its volume', async () => {
    const policy = async (...values: string[]) =>
      objectOf(await renderWith(...values), 'Secret', 'runledger-postgresql').metadata.annotations;
    expect(await policy()).to.deep.equal({ 'helm.sh/resource-policy': 'keep' });
    expect(await policy('postgresql.persistence.whenDeleted=Delete')).to.equal(undefined);
    expect(await policy('postgresql.persistence.enabled=false')).to.equal(undefined);
  });

  it('accepts passwords as values, and makes no Secret where one exists', async () => {
    const given = await renderWith('redis.auth.password=geheim123', 'postgresql.auth.existingSecret=pg');
    const password = Buffer.from('geheim123').toString('base64');
    expect(objectOf(given, 'Secret', 'runledger-redis')['data']).to.deep.equal({ password });
    expect(() => objectOf(given, 'Secret', 'runledger-postgresql')).to.throw('no Secret');
  });
});
