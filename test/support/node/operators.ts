import { randomBytes } from 'node:crypto';
import { createKeyPair } from '../certificate.ts';
import { until } from '../until.ts';
import type { Kubernetes } from './kubernetes.ts';

/** The images that the nodes have. */
export interface Images {
  readonly postgres: string;
  readonly node: string;
}

interface PostgresCluster {
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec: {
    readonly bootstrap: {
      readonly initdb: {
        readonly database: string;
        readonly owner: string;
        readonly postInitApplicationSQL: readonly string[];
      };
    };
    readonly postgresql: { readonly parameters: Readonly<Record<string, string>> };
  };
}

/** Of the first instance an empty cluster, of any other a copy of it that follows it. */
const instance = `
set -eu
export PATH=/usr/lib/postgresql/17/bin:$PATH PGDATA=/data/pgdata PGHOST=/tmp
if [ "$HOSTNAME" = "$CLUSTER-1" ]; then
  initdb --username postgres --encoding UTF8 --locale C.UTF-8 > /dev/null
  printf 'hostssl %s all all scram-sha-256\\n' all replication >> "$PGDATA/pg_hba.conf"
  pg_ctl -o "-c listen_addresses='' -c unix_socket_directories=/tmp" -w start > /dev/null
  printf '%s\\n' "$INIT_SQL" | psql -v ON_ERROR_STOP=1 -q -U postgres
  pg_ctl -m fast -w stop > /dev/null
else
  until pg_basebackup -R -X stream -D "$PGDATA" -d "application_name=$HOSTNAME host=$CLUSTER-rw \\
    user=streaming_replica password=$PASSWORD sslmode=verify-full sslrootcert=/certificates/ca.crt"; do sleep 1; done
fi
exec postgres -c listen_addresses='*' -c unix_socket_directories=/tmp -c ssl=on \\
  -c ssl_cert_file=/certificates/tls.crt -c ssl_key_file=/certificates/tls.key "$@"`;

/**
 * Makes what CloudNativePG makes of a cluster, under the same names and labels: its Secrets, its
 * Services, a primary that refuses connections without TLS, and one synchronous replica. Then the
 * cluster is ready.
 */
export async function playCloudNativePg(kubernetes: Kubernetes, images: Images): Promise<void> {
  const path = '/apis/postgresql.cnpg.io/v1/namespaces/runledger/clusters/runledger-db';
  const cluster = (await kubernetes.api.must('GET', path)) as unknown as PostgresCluster;
  const { metadata, spec } = cluster;
  const { namespace } = metadata;
  const { owner, database, postInitApplicationSQL } = spec.bootstrap.initdb;
  const password = randomBytes(24).toString('hex');
  const services = ['rw', 'ro', 'r'].map((role) => `${metadata.name}-${role}`);
  const names = services.flatMap((name) => [name, `${name}.${namespace}`, `${name}.${namespace}.svc`]);
  const { cert, key } = await createKeyPair(names[0] ?? '', ...names);
  const secret = (suffix: string, stringData: Record<string, string>): object => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: `${metadata.name}-${suffix}`, namespace },
    stringData,
  });
  const service = (suffix: string, selector: object): object => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: `${metadata.name}-${suffix}`, namespace },
    spec: { ports: [{ port: 5432 }], selector: { 'cnpg.io/cluster': metadata.name, ...selector } },
  });
  const host = `${metadata.name}-rw`;
  const initSql = [
    `create role ${owner} login password '${password}';`,
    `create role streaming_replica login replication password '${password}';`,
    `create database ${database} owner ${owner};`,
    `\\c ${database}`,
    ...postInitApplicationSQL.map((statement) => `${statement};`),
  ];
  // More memory than a node has.
  const { shared_buffers: _, ...parameters } = spec.postgresql.parameters;
  const settings = { ...parameters, wal_level: 'logical', synchronous_standby_names: `ANY 1 ("${metadata.name}-2")` };
  const pod = (number: number, role: string): object => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `${metadata.name}-${number}`,
      namespace,
      labels: { 'cnpg.io/cluster': metadata.name, 'cnpg.io/podRole': 'instance', 'cnpg.io/instanceRole': role },
    },
    spec: {
      automountServiceAccountToken: false,
      securityContext: { runAsUser: 999, runAsGroup: 999, fsGroup: 999 },
      containers: [
        {
          name: 'postgres',
          image: images.postgres,
          command: ['sh', '-c', instance, 'postgres'],
          args: Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
          env: [
            { name: 'CLUSTER', value: metadata.name },
            { name: 'PASSWORD', value: password },
            { name: 'INIT_SQL', value: initSql.join('\n') },
          ],
          readinessProbe: { exec: { command: ['pg_isready', '-h', '/tmp'] }, periodSeconds: 1 },
          volumeMounts: [
            { name: 'data', mountPath: '/data' },
            { name: 'certificates', mountPath: '/certificates' },
          ],
        },
      ],
      volumes: [
        { name: 'data', emptyDir: {} },
        { name: 'certificates', secret: { secretName: `${metadata.name}-server`, defaultMode: 0o640 } },
      ],
    },
  });
  await kubernetes.apply(
    secret('app', {
      username: owner,
      password,
      dbname: database,
      host,
      port: '5432',
      uri: `postgresql://${owner}:${password}@${host}.${namespace}:5432/${database}`,
    }),
    secret('ca', { 'ca.crt': cert, 'ca.key': key }),
    secret('server', { 'tls.crt': cert, 'tls.key': key, 'ca.crt': cert }),
    service('rw', { 'cnpg.io/instanceRole': 'primary' }),
    service('ro', { 'cnpg.io/instanceRole': 'replica' }),
    service('r', { 'cnpg.io/podRole': 'instance' }),
    pod(1, 'primary'),
    pod(2, 'replica'),
  );
  const instances = `cnpg.io/cluster=${metadata.name}`;
  const ready = ['wait', '--for=condition=Ready', 'pod', '--selector', instances, '--timeout=120s'];
  await kubernetes.kubectl(...ready, '--namespace', namespace);
  const condition = {
    type: 'Ready',
    status: 'True',
    reason: 'ClusterIsReady',
    message: 'Cluster is Ready',
    lastTransitionTime: new Date().toISOString(),
  };
  await kubernetes.api.must('PATCH', `${path}/status`, { status: { conditions: [condition] } });
}

/** Scales what each ScaledObject names to its fewest replicas, as KEDA does without load. */
export async function playKeda(kubernetes: Kubernetes): Promise<void> {
  const path = '/apis/keda.sh/v1alpha1/namespaces/runledger/scaledobjects';
  const { items } = (await kubernetes.api.must('GET', path)) as {
    items: { spec: { scaleTargetRef: { kind: string; name: string }; minReplicaCount: number } }[];
  };
  for (const { spec } of items) {
    const target = `${spec.scaleTargetRef.kind}/${spec.scaleTargetRef.name}`;
    await kubernetes.kubectl('scale', target, `--replicas=${spec.minReplicaCount}`, '--namespace', 'runledger');
  }
}

/** Prints the bodies of all requests. */
const receiver = `
  require('node:http').createServer((request, response) => {
    request.on('data', (piece) => console.log(String(piece)));
    request.on('end', () => response.end('[]'));
  }).listen(9093)`;

/** The two Alertmanagers of the Prometheus Operator's resource `main`, in `monitoring`. */
export class PlayedAlertmanagers {
  readonly #kubernetes: Kubernetes;

  constructor(kubernetes: Kubernetes) {
    this.#kubernetes = kubernetes;
  }

  async start({ node }: Images): Promise<void> {
    const metadata = { name: 'alertmanager-main', namespace: 'monitoring' };
    const labels = { alertmanager: 'main' };
    const containers = [{ name: 'alertmanager', image: node, command: ['node', '--eval', receiver] }];
    await this.#kubernetes.apply(
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'monitoring' } },
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { ...metadata, name: 'alertmanager-operated' },
        spec: { clusterIP: 'None', ports: [{ port: 9093 }], selector: labels },
      },
      {
        apiVersion: 'apps/v1',
        kind: 'StatefulSet',
        metadata,
        spec: {
          replicas: 2,
          serviceName: 'alertmanager-operated',
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { terminationGracePeriodSeconds: 0, containers } },
        },
      },
    );
  }

  /** Resolves when each has got an alert with this text. */
  async got(text: string): Promise<void> {
    for (const name of ['alertmanager-main-0', 'alertmanager-main-1']) {
      const logs = (): Promise<string> => this.#kubernetes.kubectl('logs', name, '--namespace', 'monitoring');
      await until(`${name} gets ${text}`, async () => (await logs()).includes(text), 240_000, 500);
    }
  }

  /** Asks a pod for its metrics, from the namespace of Prometheus; resolves with the status. */
  async scrape(url: string): Promise<number> {
    const script = `fetch(${JSON.stringify(url)}).then(({ status }) => console.log(status))`;
    const pod = ['--namespace', 'monitoring', 'alertmanager-main-0'];
    return Number(await this.#kubernetes.kubectl('exec', ...pod, '--', 'node', '--eval', script));
  }
}
