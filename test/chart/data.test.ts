import { expect } from 'chai';
import { renderWith } from '../support/helm.ts';
import { environment, environmentOf, objectOf, specOf, thePod } from '../support/helm-manifests.ts';

/** The values (or a shape), and what they put into the environment of ingest or of the worker. */
const cases: [title: string, values: string[], name: 'ingest' | 'worker', variables: Record<string, string>][] = [
  [
    'uses the bundled Redis, with the password from its Secret',
    [],
    'ingest',
    { REDIS_PASSWORD: 'runledger-redis/password', REDIS_URL: 'redis://runledger-redis:6379/0' },
  ],
  [
    'uses the bundled Postgres, with the password from its Secret',
    [],
    'worker',
    {
      PGPASSWORD: 'runledger-postgresql/password',
      DATABASE_URL: 'postgres://runledger@runledger-postgresql:5432/runledger',
    },
  ],
  [
    'reads Redis from the Secret of an operator, over TLS',
    ['external-services'],
    'ingest',
    {
      REDIS_PASSWORD: 'redis-credentials/password',
      REDIS_URL: 'rediss://redis-leader.databases.svc:6380/0',
      NODE_EXTRA_CA_CERTS: '/etc/runledger/ca/ca.crt',
    },
  ],
  [
    'reads Postgres from the Secret of CloudNativePG',
    ['external-services'],
    'worker',
    { DATABASE_URL: 'runledger-db-app/uri', PGSSLMODE: 'verify-full' },
  ],
  [
    'reads user name and password with any characters from the Secret of an operator',
    ['ha'],
    'worker',
    {
      REDIS_URL: 'runledger-redis/url',
      PGUSER: 'runledger-postgres/username',
      PGPASSWORD: 'runledger-postgres/password',
      PGSSLMODE: 'no-verify',
      DATABASE_URL: 'postgres://postgres-rw.databases.svc:5432/runledger',
    },
  ],
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

  it('bundles no server beside external ones', async () => {
    expect((await renderWith('external-services')).map(({ kind }) => kind)).not.to.include('StatefulSet');
  });

  it('never gives ingest the address of Postgres', async () => {
    const variables = environment(await renderWith(), 'runledger-ingest');
    expect(variables).not.to.have.any.keys('DATABASE_URL', 'PGPASSWORD');
  });

  it('migrates with the settings of the worker', async () => {
    const [migrate] = thePod(await renderWith('external-services'), 'runledger-worker').initContainers ?? [];
    expect(migrate?.args).to.deep.equal(['cmd/migrate/main.ts']);
    expect(migrate && environmentOf(migrate)).to.deep.equal({
      LOG_LEVEL: 'info',
      DATABASE_URL: 'runledger-db-app/uri',
      PGSSLMODE: 'verify-full',
      NODE_EXTRA_CA_CERTS: '/etc/runledger/ca/ca.crt',
    });
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
