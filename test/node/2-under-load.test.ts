import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { createToken } from '../../internal/tokens/manifest.ts';
import { ApiClient } from '../support/api-client.ts';
import { createKeyPair, type KeyPair } from '../support/certificate.ts';
import { audit, flawless, type RowSource } from '../support/fault/audit.ts';
import type { Ledger } from '../support/fault/ledger.ts';
import { Load } from '../support/fault/load.ts';
import type { Balancer } from '../support/fault/balancer.ts';
import { chart } from '../support/helm.ts';
import type { Kubernetes } from '../support/node/kubernetes.ts';
import { sharedKubernetes } from '../support/node/shared-kubernetes.ts';
import { until } from '../support/until.ts';

const host = 'events.example.com';
const namespace = 'load';
const release = ['runledger', chart, '--namespace', namespace, '--wait', '--timeout', '120s'];
const workloads = ['deployment/runledger-ingest', 'deployment/runledger-worker'];
const servers = ['statefulset/runledger-redis', 'statefulset/runledger-postgresql'];

describe('a release behind a Gateway, under 500 events a second over TLS', () => {
  let kubernetes: Kubernetes;
  let folder: string;
  let certificate: KeyPair;
  let loads = 0;
  let size: number;
  let token: string;

  before(async () => {
    kubernetes = sharedKubernetes();
    folder = await mkdtemp(join(tmpdir(), 'runledger-node-test-'));
    certificate = await createKeyPair(host);
    token = createToken();
    await kubernetes.kubectl('create', 'namespace', namespace);
    await kubernetes.kubectl('label', 'namespace', namespace, 'pod-security.kubernetes.io/enforce=restricted');
    await kubernetes.apply(
      {
        apiVersion: 'gateway.networking.k8s.io/v1',
        kind: 'GatewayClass',
        metadata: { name: 'traefik' },
        spec: { controllerName: 'traefik.io/gateway-controller' },
      },
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'acme', namespace, labels: { 'runledger.dev/organization': 'acme' } },
        stringData: { token },
      },
      {
        apiVersion: 'v1',
        kind: 'Secret',
        type: 'kubernetes.io/tls',
        metadata: { name: 'runledger-tls', namespace },
        stringData: { 'tls.crt': certificate.cert, 'tls.key': certificate.key },
      },
    );
    const values = join(folder, 'values.yaml');
    await writeFile(
      values,
      `gateway: { enabled: true, hostnames: [${host}], create: { enabled: true, className: traefik } }`,
    );
    await kubernetes.helm('install', ...release, '--values', values);
    const address = kubernetes.addressOf('n1');
    const caller = new ApiClient(`https://${address}`, { host, token }, { ca: certificate.cert });
    const known = async (): Promise<true | undefined> => {
      const answer = await caller.send({ path: '/v1/ping/' }).catch(() => undefined);
      return answer?.status === 200 ? true : undefined;
    };
    await until('the Gateway leads to ingest', known, 60_000);
    size = (await kubernetes.pods(namespace)).length;
    caller.close();
  });
  after(async () => {
    if (folder !== undefined) await rm(folder, { recursive: true });
  });

  /**
   * Does the work under 500 events a second, and compares what callers were told with what is
   * stored: no event lost, doubled or in a wrong outcome. Resolves with the answers other than 201,
   * by status.
   */
  const underLoad = async (work: () => Promise<unknown>): Promise<Record<number, number>> => {
    const tls = { ca: certificate.cert, maxSockets: 400 };
    const caller = new ApiClient(`https://${kubernetes.addressOf('n1')}`, { host, token }, tls);
    const register: Balancer['register'] = (body, headers, timeoutMs) =>
      caller.register(body, headers, timeoutMs).catch(() => ({ status: 0, body: '' }));
    const began = performance.now();
    const load = new Load({ register }, { rate: 500, seed: (loads += 1), twins: false, patienceMs: 10_000 });
    try {
      await work();
    } finally {
      await load.stop();
      caller.close();
    }
    await ready();
    const database = await kubernetes.postgres(namespace);
    try {
      await until('every receipt is stored', () => isStored(load.ledger, database), 60_000);
      const found = await audit(load.ledger, database, load.automations.ids, 'acme');
      expect(found).to.deep.include({ ...flawless, findings: [] });
      const samples = load.ledger.since(began);
      const others = samples.filter(({ status }) => status !== 201);
      const times = others
        .slice(0, 5)
        .map((sample) => `${sample.status} after ${Math.round(sample.ended - sample.begun)} ms`);
      console.log(
        `      ${samples.length} requests, ${found.rows} rows; other than 201: ${others.length} ${times.join(', ')}`,
      );
      return Object.fromEntries([...load.ledger.statuses].filter(([status]) => status !== 201));
    } finally {
      await database.close();
    }
  };

  /** Resolves when as many pods are ready as after the installation. */
  const ready = async (): Promise<void> => {
    const complete = async (): Promise<true | undefined> => {
      const pods = await kubernetes.pods(namespace);
      return pods.filter((pod) => pod.ready).length === size ? true : undefined;
    };
    await until('all pods are ready', complete, 180_000);
  };

  const restart = async (workload: string): Promise<void> => {
    await kubernetes.kubectl('rollout', 'restart', workload, '--namespace', namespace);
    await kubernetes.kubectl('rollout', 'status', workload, '--namespace', namespace, '--timeout=120s');
  };

  it('answers plain HTTP with 301, POST too', async () => {
    const caller = new ApiClient(`http://${kubernetes.addressOf('n1')}`, { host });
    for (const method of ['POST', 'GET']) {
      const { status, headers } = await caller.send({ method, path: '/v1/register/' });
      expect(status).to.equal(301);
      // Traefik writes the port into it, also 443.
      expect(new URL(headers.location ?? '').href).to.equal(`https://${host}/v1/register/`);
    }
    caller.close();
  });

  it('uses less than its limits', async () => {
    await underLoad(async () => {
      await sleep(30_000);
      const used = await kubernetes.use(namespace);
      for (const { pod, milliCores, mebibytes } of used) console.log(`      ${pod}: ${milliCores} m, ${mebibytes} Mi`);
      expect(used.filter(({ mebibytes, limit }) => mebibytes >= limit)).to.deep.equal([]);
    });
  });

  for (const workload of [...workloads, ...servers]) {
    it(`rolls ${workload} over`, async () => {
      expectOnly(await underLoad(() => restart(workload)), workload.includes('redis') ? redisAway : []);
    });
  }

  for (const workload of [...workloads, ...servers]) {
    const component = workload.replace(/.*-/, '');
    it(`survives the forced deletion of a pod of ${workload}`, async () => {
      const pod = (await kubernetes.pods(namespace)).find(({ name }) => name.includes(component));
      const others = await underLoad(async () => {
        await kubernetes.kubectl('delete', 'pod', pod?.name ?? '', '--namespace', namespace, '--force');
        await ready();
      });
      expectOnly(others, component === 'redis' ? redisAway : component === 'ingest' ? cutOff : []);
    });
  }

  it('drains a node, and the other, and fills them again', async () => {
    const others = await underLoad(async () => {
      for (const node of ['n1', 'n2']) {
        await kubernetes.kubectl('drain', node, '--ignore-daemonsets', '--delete-emptydir-data', '--timeout=180s');
        await ready();
        await kubernetes.kubectl('uncordon', node);
      }
    });
    expectOnly(others, redisAway);
  });

  for (const component of ['redis', 'postgresql']) {
    it(`moves the pod of ${component} with its volume to the other node`, async () => {
      const find = async (): Promise<string | undefined> =>
        (await kubernetes.pods(namespace)).find(({ name }) => name.includes(component))?.node;
      const from = await find();
      const others = await underLoad(async () => {
        await kubernetes.kubectl('cordon', from ?? '');
        await kubernetes.kubectl('delete', 'pod', `runledger-${component}-0`, '--namespace', namespace);
        await ready();
        await kubernetes.kubectl('uncordon', from ?? '');
      });
      expect(await find()).not.to.equal(from);
      expectOnly(others, component === 'redis' ? redisAway : []);
    });
  }

  it('survives a worker that the kernel kills for its memory', async () => {
    const worker = (await kubernetes.pods(namespace)).find(({ name }) => name.includes('worker'));
    // The first process is the victim: it is the largest, and has the highest score.
    const memory = 'node --eval "const taken = Buffer.alloc(20 << 20, 1); setInterval(() => taken, 1000)"';
    const script = `echo 1000 > /proc/1/oom_score_adj; for i in $(seq 24); do ${memory} & done; wait`;
    const others = await underLoad(async () => {
      const exec = ['exec', '--namespace', namespace, worker?.name ?? '', '--container', 'worker'];
      await kubernetes.kubectl(...exec, '--', 'sh', '-c', script).catch(() => undefined);
      const path = '{.status.containerStatuses[0].lastState.terminated.reason}';
      await until(
        'the kubelet has noticed',
        async () => {
          const get = ['get', 'pod', worker?.name ?? '', '--namespace', namespace, '-o', `jsonpath=${path}`];
          return (await kubernetes.kubectl(...get)) === 'OOMKilled' ? true : undefined;
        },
        30_000,
      );
      await ready();
    });
    expectOnly(others, []);
  });

  it('upgrades to changed values, and rolls back', async () => {
    const others = await underLoad(async () => {
      const changed = ['--reuse-values', '--set', 'config.logLevel=warn,redis.resources.limits.memory=768Mi'];
      await kubernetes.helm('upgrade', ...release, ...changed);
      await kubernetes.helm('rollback', 'runledger', '--namespace', namespace, '--wait', '--timeout', '120s');
      await ready();
    });
    expectOnly(others, redisAway);
  });

  it('keeps the old pods when an upgrade names an image that does not exist', async () => {
    const names = async (): Promise<string[]> =>
      (await kubernetes.pods(namespace)).filter(({ ready: serves }) => serves).map(({ name }) => name);
    const old = await names();
    const others = await underLoad(async () => {
      const bad = ['--reuse-values', '--set', 'image.tag=none', '--timeout', '15s'];
      const failed = await kubernetes.helm('upgrade', ...release, ...bad).then(
        () => false,
        () => true,
      );
      expect(failed, 'the upgrade fails').to.equal(true);
      expect(await names()).to.include.members(old);
      await kubernetes.helm('rollback', 'runledger', '--namespace', namespace, '--wait', '--timeout', '120s');
    });
    expectOnly(others, []);
  });

  it('cuts no request in 20 rolling restarts of ingest', async function () {
    this.timeout(900_000);
    const others = await underLoad(async () => {
      for (let round = 1; round <= 20; round += 1) await restart('deployment/runledger-ingest');
    });
    expectOnly(others, []);
  });
});

/** While its one Redis starts again, ingest cannot keep its promise. */
const redisAway = [503];

/** What a caller and Traefik make of a connection to a pod that is killed. */
const cutOff = [0, 502];

/** Fails on an answer other than 201 that is not among the allowed ones. */
function expectOnly(others: Record<number, number>, allowed: readonly number[]): void {
  const wrong = Object.entries(others).filter(([status]) => !allowed.includes(Number(status)));
  expect(Object.fromEntries(wrong), 'answers other than 201').to.deep.equal({});
}

/** true when as many events are stored as callers got a 201 for. */
async function isStored(ledger: Ledger, database: RowSource): Promise<true | undefined> {
  const marks = ledger.entries.filter(({ attempts }) => attempts.some(({ verdict }) => verdict === 'receipt'));
  const descriptions = marks.map(({ body }) => body.description);
  const [row] = await database.query<{ count: string }>(
    'select count(distinct description) from events where description = any($1)',
    [descriptions],
  );
  return Number(row?.count) >= descriptions.length ? true : undefined;
}
