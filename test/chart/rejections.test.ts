import { expect } from 'chai';
import { chart, helm, kubeVersion, template, withValues } from '../support/helm.ts';
import { failureOf } from '../support/failure.ts';

/** Values that contradict each other, and the message that says which one to change. */
const rejections: Record<string, string> = {
  'worker.autoscaling.enabled=true worker.keda.enabled=true':
    'worker.autoscaling.enabled and worker.keda.enabled would both set the number of workers: disable one of them.',
  'service.enabled=false':
    'No Service, Ingress or Gateway leads to ingest: set service.enabled=true, ingress.enabled=true or gateway.enabled=true.',
  'service.enabled=false ingress.enabled=true ingress.hosts={a.example.com}':
    'set service.enabled=true, or name your own in service.existingName.',
  'ingest.tls.mode=never': 'Nothing ends TLS, so every request would get a 301: ',
  'ingest.tls.mode=never ingest.trustProxy=always': 'redirects must lead to it: set publicUrl to its https:// address.',
  'ingress.enabled=true ingress.hosts={a.example.com} ingest.trustProxy=never':
    'ingest.trustProxy=never with ingress or gateway would redirect every request forever, since they talk plain HTTP to the pod: set ingest.trustProxy=auto.',
  // The routes lead to the plain port, also of a pod that ends TLS.
  'gateway.enabled=true gateway.hostnames={a.example.com} gateway.parentRef.name=public ingest.trustProxy=never ingest.tls.mode=always':
    'ingest.trustProxy=never with ingress or gateway would redirect every request forever',
  'ingress.enabled=true ingress.hosts={*.example.com}':
    'The first host is a wildcard, and redirects need a name: set publicUrl',
  'ingress.enabled=true': 'ingress.enabled=true needs a host: set ingress.hosts[0].',
  'gateway.enabled=true gateway.parentRef.name=public': 'gateway.enabled=true needs a host: set gateway.hostnames[0].',
  'gateway.enabled=true gateway.hostnames={a.example.com}':
    'name it in gateway.parentRef.name, or set gateway.create.enabled=true.',
  'gateway.enabled=true gateway.hostnames={a.example.com} gateway.create.enabled=true':
    'gateway.create.enabled=true needs a GatewayClass: set gateway.create.className.',
  'gateway.enabled=true gateway.hostnames={a.example.com,b.example.com} gateway.create.enabled=true gateway.create.className=istio':
    'keep one in gateway.hostnames, or create the Gateway yourself',
  'console.tls.mode=never':
    'set console.tls.mode=auto, enable console.ingress or console.gateway, or set console.trustProxy=always',
  'console.ingress.enabled=true': 'console.ingress.enabled=true needs a host: set console.ingress.hosts[0].',
  'console.gateway.enabled=true console.gateway.hostnames={a.example.com}':
    'name it in console.gateway.parentRef.name, or set gateway.enabled=true to share the Gateway of ingest.',
  'console.database.host=replica console.database.url=postgres://replica/runledger':
    "The address of the console's Postgres is set in several ways (console.database.url, console.database.host): keep one.",
  'console.database.username=reader':
    'console.database.username would be ignored without a host: set console.database.host, or leave it empty.',
  'console.database.url=postgres://replica/runledger console.database.credentialsSecret.name=reader':
    'console.database.credentialsSecret.name would be ignored without a host: set console.database.host',
  'console.sessions.urlSecret.name=primary':
    'console.sessions.urlSecret is for a console that reads a replica: set console.database, or leave it empty.',
  'console.oidc.clientId=runledger': 'console.oidc needs the address of the provider: set console.oidc.issuer.',
  'console.oidc.issuer=https://login.example.com console.oidc.organizations.a=acme':
    'console.oidc.issuer needs a client: set console.oidc.clientId, or console.oidc.proxyAudience',
  'console.oidc.issuer=https://login.example.com console.oidc.clientId=runledger':
    'console.oidc.issuer needs a mapping, or nobody could read anything: set console.oidc.organizations.',
  'console.extraEnv[0].name=CONSOLE_PUBLIC_URL': 'console.extraEnv sets CONSOLE_PUBLIC_URL, which the pod already has',
  'controller.serviceAccount.create=false':
    'controller.serviceAccount.create=false needs an existing account: name it in controller.serviceAccount.name.',
  'controller.extraEnv[0].name=DATABASE_URL': 'controller.extraEnv sets DATABASE_URL, which the pod already has',
  // The pod has the file of a Secret in place of the variable.
  'ingest.extraEnv[0].name=REDIS_PASSWORD_FILE': 'ingest.extraEnv sets REDIS_PASSWORD_FILE, which the pod already has',
  'worker.extraEnv[0].name=PGPASSWORD_FILE': 'worker.extraEnv sets PGPASSWORD_FILE, which the pod already has',
  'postgresql.enabled=false externalPostgresql.urlFile=/vault/url worker.extraEnv[0].name=DATABASE_URL':
    'worker.extraEnv sets DATABASE_URL, which the pod already has',
  'controller.namespaces={a} controller.channelSecrets[0].namespace=b controller.channelSecrets[0].name=keys':
    'controller.channelSecrets names the namespace b, which is not in controller.namespaces: add it there.',
  'redis.enabled=false':
    'Redis is neither bundled nor external: set redis.enabled=true, or name a Secret that holds its URL in externalRedis.urlSecret.name.',
  'externalRedis.host=redis.example.com':
    'Redis is both bundled and external (externalRedis.host): set redis.enabled=false, or leave externalRedis empty.',
  'redis.enabled=false externalRedis.urlSecret.name=redis externalRedis.url=redis://redis.example.com':
    'The address of Redis is set in several ways (externalRedis.url, externalRedis.urlSecret.name): keep one.',
  'postgresql.enabled=false':
    'Postgres is neither bundled nor external: set postgresql.enabled=true, or name a Secret that holds its URL in externalPostgresql.urlSecret.name.',
  'externalPostgresql.urlFile=/vault/url':
    'Postgres is both bundled and external (externalPostgresql.urlFile): set postgresql.enabled=false, or leave externalPostgresql empty.',
  'otherPostgresql.eu.urlSecret.name=eu':
    'otherPostgresql needs a first Postgres that is external: set postgresql.enabled=false and externalPostgresql, or leave it empty.',
  'externalRedis.sentinels={s-0:26379}':
    'externalRedis.sentinels would be ignored: the bundled Redis has no Sentinels. Set redis.enabled=false, or leave it empty.',
  'externalRedis.drainedShards={redis:6379}':
    'externalRedis.drainedShards would be ignored: the bundled Redis has no shards. Set redis.enabled=false, or leave it empty.',
  'redis.enabled=false externalRedis.shards={a,b} externalRedis.drainedShards={b}':
    'b takes events and is drained: remove it from externalRedis.shards or externalRedis.drainedShards.',
  'redis.enabled=false externalRedis.shards={a\\,b} externalRedis.database=1':
    'externalRedis.shards names a Redis Cluster, which has no other database than 0: set externalRedis.database to 0.',
  'redis.enabled=false externalRedis.drainedShards={redis://a\\,b}': '/externalRedis/drainedShards',
  'redis.enabled=false externalRedis.host=redis externalRedis.sentinelSecret.name=sentinels':
    'externalRedis.sentinelSecret would be ignored without externalRedis.sentinels: set both.',
  'redis.enabled=false externalRedis.urlSecret.name=redis externalRedis.credentialsSecret.name=password':
    'externalRedis.credentialsSecret.name would be ignored without any of url, host, shards: set externalRedis.host, or leave it empty.',
  'redis.enabled=false externalRedis.urlFile=/vault/redis externalRedis.username=app externalRedis.credentialsSecret.name=a':
    'externalRedis.username and externalRedis.credentialsSecret.name would be ignored without any of url, host, shards',
  'postgresql.enabled=false externalPostgresql.url=postgres://db/runledger externalPostgresql.credentialsSecret.name=pg':
    'externalPostgresql.credentialsSecret.name would be ignored without a host: set externalPostgresql.host, or leave it empty.',
  'postgresql.enabled=false externalPostgresql.urlSecret.name=db externalPostgresql.username=app':
    'externalPostgresql.username would be ignored without a host: set externalPostgresql.host',
  'postgresql.enabled=false externalPostgresql.urlFile=/vault/pg externalPostgresql.credentialsSecret.name=pg':
    'externalPostgresql.credentialsSecret.name would be ignored without a host: set externalPostgresql.host',
  'config.redisAcks=1':
    'config.redisAcks=1 would let ingest answer 503 forever, since the bundled Redis has no replica: set it to 0,',
  'redis.enabled=false externalRedis.urlSecret.name=redis worker.keda.enabled=true':
    'KEDA accepts no Redis URL: set worker.keda.redisAddress (host:port) and worker.keda.authenticationRef, or set externalRedis.host in place of the URL.',
  'ingest.autoscaling.enabled=true ingest.autoscaling.minReplicas=20':
    'ingest.autoscaling.minReplicas (20) is above ingest.autoscaling.maxReplicas (10): raise maxReplicas.',
  'metrics.podMonitor.enabled=true metrics.serviceMonitor.enabled=true':
    'metrics.podMonitor.enabled and metrics.serviceMonitor.enabled would scrape every pod twice: disable one of them.',
  'ingest.preStopSeconds=30':
    'ingest.terminationGracePeriodSeconds (45) would kill a pod before it has answered its pending requests: set it above ingest.preStopSeconds + 25 = 55.',
  'worker.terminationGracePeriodSeconds=10':
    'worker.terminationGracePeriodSeconds (10) would kill a pod before it has committed its batches: set it above 25.',
  'tokens.createNamespace=true':
    "tokens.createNamespace=true needs a name other than the release's namespace: set tokens.namespace.",
  'ingest.serviceAccount.create=false':
    'ingest.serviceAccount.create=false needs an existing account: name it in ingest.serviceAccount.name.',
  'caBundle.configMap=a caBundle.secret=b': 'caBundle.configMap and caBundle.secret are both set: keep one.',
  'ingest.extraEnv[0].name=LOG_LEVEL ingest.extraEnv[0].value=debug':
    'ingest.extraEnv sets LOG_LEVEL, which the pod already has: remove it there and use the value of the chart.',
  'caBundle.configMap=a ingest.extraEnv[0].name=NODE_EXTRA_CA_CERTS':
    'ingest.extraEnv sets NODE_EXTRA_CA_CERTS, which the pod already has',
  'caBundle.secret=a worker.extraEnv[0].name=NODE_EXTRA_CA_CERTS':
    'worker.extraEnv sets NODE_EXTRA_CA_CERTS, which the pod already has',
  'worker.extraEnv[0].name=A worker.extraEnv[1].name=A': 'worker.extraEnv sets A, which the pod already has',
  'ingets.replicas=3': "additional properties 'ingets' not allowed",
  'worker.keda.minReplicaCount=3': "additional properties 'minReplicaCount' not allowed",
  'ingest.replicas=3': "additional properties 'replicas' not allowed",
  'ingress.enabled=true ingress.hosts={a.example.com} console.ingress.enabled=true console.ingress.hosts={a.example.com}':
    'a.example.com cannot lead to both ingest and the console: give the console a host of its own',
  'ingress.enabled=true ingress.hosts={a.example.com} console.publicUrl=https://a.example.com/':
    'a.example.com cannot lead to both ingest and the console',
  'publicUrl=https://A.example.com/ console.publicUrl=https://a.example.com':
    'a.example.com cannot lead to both ingest and the console',
  'archive.url=s3://record config.retentionDays=1': 'config.retentionDays=1 would drop each day before archive.url can',
  'config.hotDays=7': 'config.hotDays needs archive.url',
  'archive.url=s3://record config.hotDays=1': 'config.hotDays must be 2 at least',
  'archive.url=s3://record config.hotDays=7 archive.format=csv': 'config.hotDays needs archive.format=parquet',
  'postgresql.enabled=false externalPostgresql.url=postgres://runledger:secret@db/runledger':
    'externalPostgresql.url has a password, which everybody who reads the release could read: set externalPostgresql.urlSecret',
  'console.database.url=postgres://reader:secret@db/runledger': 'console.database.url has a password',
  'redis.enabled=false externalRedis.url=redis://:secret@redis:6379': 'externalRedis.url has a password',
  'worker.replicaCount=0': 'minimum',
  'worker.progressDeadlineSeconds=0': 'minimum',
  'worker.keda.minReplicas=0': 'minimum',
  'ingest.strategy.type=BlueGreen': '/ingest/strategy/type',
  'publicUrl=http://events.example.com': '/publicUrl',
  'publicUrl=https://me@events.example.com': '/publicUrl',
  'externalPostgresql.sslMode=prefer': '/externalPostgresql/sslMode',
  'otherPostgresql.first.urlSecret.name=eu': "invalid propertyName 'first'",
  'podSecurityContext.runAsUser=0': '/podSecurityContext/runAsUser',
  'ingress.controller=caddy': '/ingress/controller',
  'redis.auth.password=p@ss/word': '/redis/auth/password',
  'image.digest=latest': '/image/digest',
  'redis.resources.limits=null': 'limits',
};

describe('chart, bad values', () => {
  for (const [values, message] of Object.entries(rejections)) {
    it(`rejects ${values}: ${message}`, async () => {
      const problem = await failureOf(template(withValues(...values.split(' '))));
      expect(asHelm4(String(problem))).to.include(message);
    });
  }

  it('rejects an API that the cluster lacks, unless renderMode skips it', async () => {
    const bare = ['template', 'runledger', chart, '--kube-version', kubeVersion, '--set', 'worker.keda.enabled=true'];
    expect(String(await failureOf(helm(bare)))).to.include(
      'worker.keda.enabled=true needs keda.sh/v1alpha1/ScaledObject, which this cluster does not have.',
    );
    const without = await helm([...bare, '--set', 'renderMode=skipIfMissing']);
    expect(without).not.to.include('ScaledObject');
    // Without the ScaledObject the Deployment sets the number.
    expect(without).to.include('replicas: 2');
    expect(await helm([...bare, '--set', 'renderMode=alwaysRender'])).to.include('kind: ScaledObject');
  });
});

/** Helm 3 before 3.18 words the findings of the schema in another way. */
function asHelm4(problem: string): string {
  return problem
    .replaceAll(/Additional property (\S+) is not allowed/g, "additional properties '$1' not allowed")
    .replaceAll(/Property name of "(\S+)" does not match/g, "invalid propertyName '$1'")
    .replaceAll('Must be greater than or equal to', 'minimum')
    .replaceAll(/^- ([\w.]+):/gm, (_, path: string) => `- /${path.replaceAll('.', '/')}`);
}
