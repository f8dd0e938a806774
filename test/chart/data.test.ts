import { expect } from 'chai';
import { render, valuesOf } from '../support/helm.ts';
import { environmentOf, objectOf, theContainer, thePod, type Manifest } from '../support/helm-manifests.ts';

const sets = (...values: string[]): string[] => values.flatMap((value) => ['--set', value]);
const ingest = (manifests: Manifest[]) => environmentOf(theContainer(manifests, 'runledger-ingest'));
const worker = (manifests: Manifest[]) => environmentOf(theContainer(manifests, 'runledger-worker'));

describe('chart, Redis and Postgres', () => {
  it('uses the bundled servers, with passwords from their Secrets', async () => {
    const manifests = await render();
    expect(ingest(manifests)).to.include({
      REDIS_PASSWORD: 'runledger-redis/password',
      REDIS_URL: 'redis://runledger-redis:6379/0',
    });
    expect(worker(manifests)).to.include({
      PGPASSWORD: 'runledger-postgresql/password',
      DATABASE_URL: 'postgres://runledger@runledger-postgresql:5432/runledger',
    });
    expect(ingest(manifests), 'ingest never talks to Postgres').not.to.have.any.keys('DATABASE_URL', 'PGPASSWORD');
  });

  it('reads Redis from the Secret of an operator, over TLS', async () => {
    const manifests = await render(['--values', valuesOf('external-services')]);
    expect(ingest(manifests)).to.include({
      REDIS_PASSWORD: 'redis-credentials/password',
      REDIS_URL: 'rediss://redis-leader.databases.svc:6380/0',
      NODE_EXTRA_CA_CERTS: '/etc/runledger/ca/ca.crt',
    });
    expect(manifests.filter(({ kind }) => kind === 'StatefulSet')).to.deep.equal([]);
  });

  it('reads Postgres from the Secret of CloudNativePG', async () => {
    const manifests = await render(['--values', valuesOf('external-services')]);
    expect(worker(manifests)).to.include({ DATABASE_URL: 'runledger-db-app/uri', PGSSLMODE: 'verify-full' });
    const [migrate] = thePod(manifests, 'runledger-worker').initContainers ?? [];
    expect(migrate?.args).to.deep.equal(['cmd/migrate/main.ts']);
    expect(migrate && environmentOf(migrate)).to.deep.equal({
      LOG_LEVEL: 'info',
      DATABASE_URL: 'runledger-db-app/uri',
      PGSSLMODE: 'verify-full',
      NODE_EXTRA_CA_CERTS: '/etc/runledger/ca/ca.crt',
    });
  });

  it('reads user name and password with any characters from the Secret of an operator', async () => {
    expect(worker(await render(['--values', valuesOf('ha')]))).to.include({
      REDIS_URL: 'runledger-redis/url',
      PGUSER: 'runledger-postgres/username',
      PGPASSWORD: 'runledger-postgres/password',
      PGSSLMODE: 'no-verify',
      DATABASE_URL: 'postgres://postgres-rw.databases.svc:5432/runledger',
    });
    const own = ['credentialsSecret.usernameKey=', 'username=app@server', 'parameters=options=-c%20jit=off'];
    const named = sets(...own.map((value) => `externalPostgresql.${value}`));
    expect(worker(await render(['--values', valuesOf('ha'), ...named]))).to.include({
      PGUSER: 'app@server',
      DATABASE_URL: 'postgres://postgres-rw.databases.svc:5432/runledger?options=-c%20jit=off',
    });
  });

  it("mounts an authority's certificate, and not the key that may lie beside it", async () => {
    for (const [kind, source] of [
      ['secret', 'secretName'],
      ['configMap', 'name'],
    ] as const) {
      const bundle = sets(`caBundle.${kind}=runledger-db-ca`);
      for (const name of ['runledger-ingest', 'runledger-worker']) {
        const { volumes = [] } = thePod(await render(bundle), name);
        expect(volumes.find((volume) => volume.name === 'ca')).to.deep.equal({
          name: 'ca',
          [kind]: { [source]: 'runledger-db-ca', items: [{ key: 'ca.crt', path: 'ca.crt' }] },
        });
      }
    }
  });

  it('accepts files of an injector, and plain URLs', async () => {
    const files = await render(
      sets(
        'redis.enabled=false',
        'externalRedis.urlFile=/vault/redis',
        'postgresql.enabled=false',
        'externalPostgresql.urlFile=/vault/pg',
      ),
    );
    expect(worker(files)).to.include({ REDIS_URL_FILE: '/vault/redis', DATABASE_URL_FILE: '/vault/pg' });
    const plain = await render(
      sets('redis.enabled=false', 'externalRedis.url=redis://a:6379\\,redis://b:6379', 'externalRedis.port=6379'),
    );
    expect(ingest(plain)).to.include({ REDIS_URL: 'redis://a:6379,redis://b:6379' });
  });

  it('runs a durable Redis, with maxmemory below its memory limit', async () => {
    const manifests = await render(sets('redis.resources.limits.memory=1Gi'));
    const { data } = objectOf(manifests, 'ConfigMap', 'runledger-redis') as unknown as {
      data: { 'redis.conf': string };
    };
    const settings = Object.fromEntries(
      data['redis.conf']
        .trim()
        .split('\n')
        .map((line) => line.split(/ (.*)/)),
    );
    expect(settings).to.include({ appendonly: 'yes', appendfsync: 'always', 'maxmemory-policy': 'noeviction' });
    expect(Number(settings['maxmemory'])).to.equal(Math.floor(0.6 * 1024 ** 3));
  });

  it('keeps the data of both on volumes, and restarts Redis when its configuration changes', async () => {
    const checksum = async (...values: string[]) => {
      const { spec } = objectOf(await render(sets(...values)), 'StatefulSet', 'runledger-redis') as unknown as {
        spec: { template: { metadata: { annotations: Record<string, string> } }; volumeClaimTemplates: unknown[] };
      };
      expect(spec.volumeClaimTemplates).to.have.length(1);
      return spec.template.metadata.annotations['checksum/config'];
    };
    expect(await checksum()).to.equal(await checksum('redis.resources.limits.cpu=1'));
    expect(await checksum()).not.to.equal(await checksum('redis.resources.limits.memory=1Gi'));
  });

  it('keeps the password of Postgres as long as its volume', async () => {
    const policy = async (...values: string[]) =>
      objectOf(await render(sets(...values)), 'Secret', 'runledger-postgresql').metadata.annotations;
    expect(await policy()).to.deep.equal({ 'helm.sh/resource-policy': 'keep' });
    expect(await policy('postgresql.persistence.whenDeleted=Delete')).to.equal(undefined);
    expect(await policy('postgresql.persistence.enabled=false')).to.equal(undefined);
  });

  it('accepts passwords as values and as Secrets', async () => {
    const given = await render(sets('redis.auth.password=geheim123', 'postgresql.auth.existingSecret=pg'));
    const secret = objectOf(given, 'Secret', 'runledger-redis') as unknown as { data: { password: string } };
    expect(Buffer.from(secret.data.password, 'base64').toString()).to.equal('geheim123');
    expect(worker(given)).to.include({ PGPASSWORD: 'pg/password' });
    expect(given.some(({ kind, metadata }) => kind === 'Secret' && metadata.name === 'runledger-postgresql')).to.equal(
      false,
    );
  });
});
