import { expect } from 'chai';
import { chart, helm, kubeVersion, template } from '../support/helm.ts';

const external = ['redis.enabled=false', 'externalRedis.urlSecret.name=redis'];

/** The mistake, the values with it, and the message that says which value to change. */
const rejections: [what: string, values: string[], sentence: string][] = [
  [
    'both autoscaler and KEDA',
    ['worker.autoscaling.enabled=true', 'worker.keda.enabled=true'],
    'worker.autoscaling.enabled and worker.keda.enabled would both set the number of workers: disable one of them.',
  ],
  [
    'neither a Service nor an Ingress nor a Gateway',
    ['service.enabled=false'],
    'No Service, Ingress or Gateway leads to ingest: set service.enabled=true, ingress.enabled=true or gateway.enabled=true.',
  ],
  [
    'an ingress that leads to no Service',
    ['service.enabled=false', 'ingress.enabled=true', 'ingress.hosts={a.example.com}'],
    'set service.enabled=true, or name your own in service.existingName.',
  ],
  ['TLS that nothing ends', ['ingest.tls.mode=never'], 'Nothing ends TLS, so every request would get a 301: '],
  [
    'redirects without an address that ends TLS',
    ['ingest.tls.mode=never', 'ingest.trustProxy=always'],
    'redirects must lead to it: set publicUrl to its https:// address.',
  ],
  [
    'an ingress that ingest does not trust',
    ['ingress.enabled=true', 'ingress.hosts={a.example.com}', 'ingest.trustProxy=never'],
    'ingest.trustProxy=never with ingress or gateway would redirect every request forever, since they talk plain HTTP to the pod: set ingest.trustProxy=auto.',
  ],
  [
    'a gateway that ingest does not trust, with TLS in the pod too: the routes lead to its plain port',
    [
      'gateway.enabled=true',
      'gateway.hostnames={a.example.com}',
      'gateway.parentRef.name=public',
      'ingest.trustProxy=never',
      'ingest.tls.mode=always',
    ],
    'ingest.trustProxy=never with ingress or gateway would redirect every request forever',
  ],
  [
    'redirects to a wildcard',
    ['ingress.enabled=true', 'ingress.hosts={*.example.com}'],
    'The first host is a wildcard, and redirects need a name: set publicUrl',
  ],
  ['an ingress without a host', ['ingress.enabled=true'], 'ingress.enabled=true needs a host: set ingress.hosts[0].'],
  [
    'a gateway without a host',
    ['gateway.enabled=true', 'gateway.parentRef.name=public'],
    'gateway.enabled=true needs a host: set gateway.hostnames[0].',
  ],
  [
    'a route without a Gateway',
    ['gateway.enabled=true', 'gateway.hostnames={a.example.com}'],
    'name it in gateway.parentRef.name, or set gateway.create.enabled=true.',
  ],
  [
    'a Gateway without a class',
    ['gateway.enabled=true', 'gateway.hostnames={a.example.com}', 'gateway.create.enabled=true'],
    'gateway.create.enabled=true needs a GatewayClass: set gateway.create.className.',
  ],
  [
    'one listener for two hosts',
    [
      'gateway.enabled=true',
      'gateway.hostnames={a.example.com,b.example.com}',
      'gateway.create.enabled=true',
      'gateway.create.className=istio',
    ],
    'keep one in gateway.hostnames, or create the Gateway yourself',
  ],
  [
    'no Redis',
    ['redis.enabled=false'],
    'Redis is neither bundled nor external: set redis.enabled=true, or name a Secret that holds its URL in externalRedis.urlSecret.name.',
  ],
  [
    'two Redis',
    ['externalRedis.host=redis.example.com'],
    'Redis is both bundled and external (externalRedis.host): set redis.enabled=false, or leave externalRedis empty.',
  ],
  [
    'a Redis given twice',
    [...external, 'externalRedis.url=redis://redis.example.com'],
    'The address of Redis is set in several ways (externalRedis.url, externalRedis.urlSecret.name): keep one.',
  ],
  [
    'no Postgres',
    ['postgresql.enabled=false'],
    'Postgres is neither bundled nor external: set postgresql.enabled=true, or name a Secret that holds its URL in externalPostgresql.urlSecret.name.',
  ],
  [
    'two Postgres',
    ['externalPostgresql.urlFile=/vault/url'],
    'Postgres is both bundled and external (externalPostgresql.urlFile): set postgresql.enabled=false, or leave externalPostgresql empty.',
  ],
  [
    'KEDA without an address of Redis',
    [...external, 'worker.keda.enabled=true'],
    'KEDA accepts no Redis URL: set worker.keda.redisAddress (host:port) and worker.keda.authenticationRef, or set externalRedis.host in place of the URL.',
  ],
  [
    'a minimum of pods above the maximum',
    ['ingest.autoscaling.enabled=true', 'ingest.autoscaling.minReplicas=20'],
    'ingest.autoscaling.minReplicas (20) is above ingest.autoscaling.maxReplicas (10): raise maxReplicas.',
  ],
  [
    'every pod scraped twice',
    ['metrics.podMonitor.enabled=true', 'metrics.serviceMonitor.enabled=true'],
    'metrics.podMonitor.enabled and metrics.serviceMonitor.enabled would scrape every pod twice: disable one of them.',
  ],
  [
    'ingest killed while it drains',
    ['ingest.preStopSeconds=30'],
    'ingest.terminationGracePeriodSeconds (45) would kill a pod before it has answered its pending requests: set it above ingest.preStopSeconds + 25 = 55.',
  ],
  [
    'a worker killed while it commits',
    ['worker.terminationGracePeriodSeconds=10'],
    'worker.terminationGracePeriodSeconds (10) would kill a pod before it has committed its batches: set it above 25.',
  ],
  [
    'a tokens namespace without a name',
    ['tokens.createNamespace=true'],
    "tokens.createNamespace=true needs a name other than the release's namespace: set tokens.namespace.",
  ],
  [
    'an account without a name',
    ['ingest.serviceAccount.create=false'],
    'ingest.serviceAccount.create=false needs an existing account: name it in ingest.serviceAccount.name.',
  ],
  [
    'two CA bundles',
    ['caBundle.configMap=a', 'caBundle.secret=b'],
    'caBundle.configMap and caBundle.secret are both set: keep one.',
  ],
  [
    'a variable that the chart sets',
    ['ingest.extraEnv[0].name=LOG_LEVEL', 'ingest.extraEnv[0].value=debug'],
    'ingest.extraEnv sets LOG_LEVEL, which the pod already has: remove it there and use the value of the chart.',
  ],
  [
    'a CA bundle given twice, to ingest',
    ['caBundle.configMap=a', 'ingest.extraEnv[0].name=NODE_EXTRA_CA_CERTS', 'ingest.extraEnv[0].value=/ca.crt'],
    'ingest.extraEnv sets NODE_EXTRA_CA_CERTS, which the pod already has: remove it there and use the value of the chart.',
  ],
  [
    'a CA bundle given twice, to the worker',
    ['caBundle.secret=a', 'worker.extraEnv[0].name=NODE_EXTRA_CA_CERTS', 'worker.extraEnv[0].value=/ca.crt'],
    'worker.extraEnv sets NODE_EXTRA_CA_CERTS, which the pod already has',
  ],
  [
    'a variable given twice',
    ['worker.extraEnv[0].name=A', 'worker.extraEnv[1].name=A'],
    'worker.extraEnv sets A, which the pod already has',
  ],
  ['an unknown key', ['ingets.replicas=3'], "additional properties 'ingets' not allowed"],
  [
    'an unknown key further in',
    ['worker.keda.minReplicaCount=3'],
    "additional properties 'minReplicaCount' not allowed",
  ],
  [
    'two numbers of pods, under the old name and the new one',
    ['ingest.replicas=3', 'ingest.replicaCount=4'],
    'ingest.replicas (3) is the old name of ingest.replicaCount (4), and they differ: remove ingest.replicas.',
  ],
  ['no worker at all', ['worker.replicaCount=0'], 'minimum'],
  ['no worker at all, under the old name', ['worker.replicas=0'], 'minimum'],
  ['an unknown strategy', ['ingest.strategy.type=BlueGreen'], '/ingest/strategy/type'],
  ['KEDA down to no worker', ['worker.keda.minReplicas=0'], 'minimum'],
  ['a public URL over plain HTTP', ['publicUrl=http://events.example.com'], '/publicUrl'],
  ['a public URL with a user', ['publicUrl=https://me@events.example.com'], '/publicUrl'],
  ['a TLS mode that the driver does not know', ['externalPostgresql.sslMode=prefer'], '/externalPostgresql/sslMode'],
  ['pods that run as root', ['podSecurityContext.runAsUser=0'], '/podSecurityContext/runAsUser'],
  ['an unknown controller', ['ingress.controller=caddy'], '/ingress/controller'],
  ['a password that would break the URL', ['redis.auth.password=p@ss/word'], '/redis/auth/password'],
  ['a malformed digest', ['image.digest=latest'], '/image/digest'],
  ['a Redis without a memory limit', ['redis.resources.limits=null'], 'limits'],
];

describe('chart, bad values', () => {
  for (const [what, values, sentence] of rejections) {
    it(`rejects ${what}`, async () => {
      const problem = await template(values.flatMap((value) => ['--set', value])).then(
        () => 'it was accepted',
        (error: Error) => error.message,
      );
      // Helm 3 before 3.18 has other words for the findings of the schema.
      expect(asHelm4(problem)).to.include(sentence);
    });
  }

  it('rejects an API that the cluster lacks, unless renderMode skips it', async () => {
    const bare = ['template', 'runledger', chart, '--kube-version', kubeVersion, '--set', 'worker.keda.enabled=true'];
    const problem = await helm(bare).then(
      () => 'it was accepted',
      (error: Error) => error.message,
    );
    expect(problem).to.include(
      'worker.keda.enabled=true needs keda.sh/v1alpha1/ScaledObject, which this cluster does not have.',
    );
    const without = await helm([...bare, '--set', 'renderMode=skipIfMissing']);
    expect(without).not.to.include('ScaledObject');
    // Without the ScaledObject the Deployment sets the number.
    expect(without).to.include('replicas: 2');
    expect(await helm([...bare, '--set', 'renderMode=alwaysRender'])).to.include('kind: ScaledObject');
  });
});

function asHelm4(problem: string): string {
  return problem
    .replaceAll(/Additional property (\S+) is not allowed/g, "additional properties '$1' not allowed")
    .replaceAll('Must be greater than or equal to', 'minimum')
    .replaceAll(/^- ([\w.]+):/gm, (_, path: string) => `- /${path.replaceAll('.', '/')}`);
}
