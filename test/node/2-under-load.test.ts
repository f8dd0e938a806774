import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { clusterCommands } from '../support/document-blocks.ts';
import { eventBody } from '../support/events.ts';
import { keepAfterEnd } from '../support/node/endings.ts';
import { capturedJobs, jobsNamespace } from '../support/node/jobs.ts';
import type { Kubernetes, PodState } from '../support/node/kubernetes.ts';
import { LoadedRelease, type Others } from '../support/node/loaded-release.ts';
import { sharedKubernetes } from '../support/node/shared-kubernetes.ts';
import { verified } from '../support/node/verified.ts';
import { until } from '../support/until.ts';

const ingest = 'deployment/runledger-ingest';
/** Ingest needs none of these to answer. */
const behind = ['worker', 'console', 'controller'].map((name) => `deployment/runledger-${name}`);
const servers = ['redis', 'postgresql'].map((name) => `statefulset/runledger-${name}`);

/** Statuses of a request whose pod is killed. */
const cutOff = [0, 502];

describe('a release behind a Gateway, under load over TLS', () => {
  let kubernetes: Kubernetes;
  let release: LoadedRelease;

  before(async () => {
    kubernetes = sharedKubernetes();
    release = await LoadedRelease.shared(kubernetes);
    // They run beside the first tests, also while the controller rolls over.
    const image = (of: string): Promise<string> =>
      kubectl('get', of, '-o', 'jsonpath={.spec.template.spec.containers[0].image}');
    const [redis = ''] = servers;
    await kubernetes.kubectl('create', 'namespace', jobsNamespace);
    const capture = clusterCommands('docs/report/kubernetes-jobs.md');
    await kubernetes.shell(capture.replaceAll(/acme(-automations)?/g, jobsNamespace));
    await kubernetes.apply(...(await capturedJobs(await image(ingest), await image(redis), release.reporting)));
  });

  /** kubectl in the release's namespace. */
  const kubectl = (...args: string[]): Promise<string> => kubernetes.kubectl('--namespace', release.namespace, ...args);
  const podOf = async (component: string): Promise<string> =>
    (await kubernetes.pods(release.namespace)).find(({ name }) => name.includes(component))?.name ?? '';
  const onePodOf = (workload: string): Promise<string> => podOf(workload.replace(/.*-/, ''));

  it('answers plain HTTP with 301, POST too', async () => {
    const caller = release.plainClient();
    for (const method of ['POST', 'GET']) {
      const { status, headers } = await caller.send({ method, path: '/v1/register/' });
      expect(status).to.equal(301);
      // Traefik writes the port into it, also 443.
      expect(new URL(headers.location ?? '').href).to.equal('https://events.example.com/v1/register/');
    }
    caller.close();
  });

  it('uses no more memory than it requests, at 500 events a second', async () => {
    const read = (): Promise<Others> =>
      release.whileReading(async () => {
        await sleep(15_000);
        const used = await kubernetes.use(release.namespace);
        for (const { pod, milliCores, mebibytes } of used)
          console.log(`      ${pod}: ${milliCores} m, ${mebibytes} Mi`);
        expect(used.filter(({ mebibytes, requested }) => mebibytes > requested)).to.deep.equal([]);
      });
    expectOnly(await release.underLoad(read, { rate: 500 }), []);
  });

  // The last test rolls ingest over.
  for (const workloads of [behind, ...servers.map((server) => [server])]) {
    it(`rolls ${workloads.join(', ')} over; each process ends by itself, within its time`, async () => {
      const pods = await Promise.all(workloads.map(onePodOf));
      let codes: Record<string, number> = {};
      let others: Others = {};
      const restarted = async (): Promise<void> => {
        const ended = await keepAfterEnd(kubernetes, release.namespace, pods);
        others = await release.whileReading(async () => {
          await kubectl('rollout', 'restart', ...workloads);
          codes = await ended();
          await release.rolledOut(...workloads);
        });
      };
      expectOnly(await release.underLoad(restarted), []);
      expect(codes).to.deep.equal(endedByThemselves(pods));
      // While its one Postgres starts again, the console has nothing to read.
      expectOnly(others, workloads.includes('statefulset/runledger-postgresql') ? [503] : []);
    });
  }

  it('records what Kubernetes runs: a CronJob in time, and a Job whose Pod fails under runledger exec', async () => {
    const named = ['get', 'job/fails', '--namespace', jobsNamespace, '-o', 'jsonpath={.metadata.uid}'];
    const failing = await kubernetes.kubectl(...named);
    const database = await kubernetes.postgres(release.namespace);
    /** The texts of an organization's events by their kind, once all of these kinds are stored. */
    const recorded = (organization: string, condition: string, kinds: string[]): Promise<Record<string, string>> =>
      until(
        `${kinds.join()} of ${organization} where ${condition}`,
        async () => {
          const rows = await database.query<{ kind: string; texts: string }>(
            `select kind::text, concat_ws(' | ', error_id, description, error_description) as texts from events
             where organization = '${organization}' and ${condition}`,
          );
          const texts = Object.fromEntries(rows.map((row) => [row.kind, row.texts]));
          return kinds.every((kind) => kind in texts) && texts;
        },
        180_000,
        500,
      );
    const kinds = ['START', 'WARNING', 'ERROR', 'END'];
    const failed = await recorded(jobsNamespace, `execution_id = '${failing}'`, kinds);
    expect(failed['ERROR']).to.match(/^BackoffLimitExceeded \| Job fails failed \| /);
    expect(failed['WARNING']).to.match(
      /^Error \| Pod fails-\w+: container backup ended with exit code 3 .*The disk is full\.$/,
    );
    const reported = await recorded('acme', `execution_id like 'fails-%'`, ['START', 'ERROR', 'END']);
    expect(reported['ERROR']).to.match(/^3 \| Ended with exit code 3 after \d+\.\d s \| The disk is full\.\s*$/);
    expect(reported['END']).to.match(/Ended with exit code 3 after/);
    const succeeded = await recorded(jobsNamespace, `execution_id <> '${failing}'`, ['START', 'END']);
    expect(Object.keys(succeeded)).to.have.length(2);
    expect(succeeded['START']).to.match(
      /Job minutely-\d+ of CronJob minutely, scheduled for .*:00Z, started \d+ s later/,
    );
    await database.close();
    await kubernetes.kubectl('delete', 'namespace', jobsNamespace, '--wait=false');
  });

  it('answers 503 itself for 40 s without Redis; no pod leaves the Service', async () => {
    const caller = release.client('events');
    const without = async (): Promise<void> => {
      await kubectl('scale', 'statefulset/runledger-redis', '--replicas=0');
      await until('ingest answers 503', async () => (await caller.register(eventBody())).status === 503, 240_000, 100);
      // Longer than the liveness probe waits.
      const end = performance.now() + 40_000;
      while (performance.now() < end) {
        const { status, headers } = await caller.register(eventBody());
        expect([status, headers['content-type'], headers['retry-after']]).to.deep.equal([
          503,
          'application/problem+json',
          '1',
        ]);
        expect(await kubernetes.endpoints(release.namespace, 'runledger')).to.equal(2);
        await sleep(200);
      }
      await kubectl('scale', 'statefulset/runledger-redis', '--replicas=1');
      await release.ready();
    };
    // Callers repeat what is answered with 503: they send many times that.
    expectOnly(await release.underLoad(without, { rate: 50 }), []);
    caller.close();
  });

  it('takes a pod that hangs out of the Service, and restarts it', async () => {
    const pod = await podOf('ingest');
    const others = await release.underLoad(
      async () => {
        await kubernetes.freeze(release.namespace, pod);
        await until(
          'the pod leaves',
          async () => (await kubernetes.endpoints(release.namespace, 'runledger')) === 1,
          240_000,
          250,
        );
        const restarted = async (): Promise<boolean> =>
          (await kubernetes.pods(release.namespace)).some(({ name, restarts }) => name === pod && restarts === 1);
        await until('the kubelet restarts it', restarted, 150_000, 1_000);
        await release.ready();
      },
      { rate: 50, restarts: pod },
    );
    expectOnly(others, [...cutOff, 504]);
  });

  for (const workloads of [[ingest], behind, ...servers.map((server) => [server])]) {
    it(`survives the forced deletion of a pod of ${workloads.join(', of ')}`, async () => {
      const pods = await Promise.all(workloads.map(onePodOf));
      const others = await release.underLoad(async () => {
        // The servers come back on one node, so that one drain moves both.
        await kubernetes.kubectl('cordon', 'n2');
        await kubectl('delete', 'pod', ...pods, '--force');
        await release.ready();
        await kubernetes.kubectl('uncordon', 'n2');
      });
      expectOnly(others, workloads.includes(ingest) ? cutOff : []);
    });
  }

  it('drains the nodes of Redis and Postgres: their pods move with their volumes', async () => {
    const serversOn = async (nodes: readonly string[]): Promise<PodState[]> =>
      (await kubernetes.pods(release.namespace)).filter(
        ({ name, node }) => name.endsWith('-0') && nodes.includes(node),
      );
    const moved = new Set<string>();
    const others = await release.underLoad(async () => {
      for (const node of new Set((await serversOn(['n1', 'n2'])).map((pod) => pod.node))) {
        const leaving = (await serversOn([node])).map(({ name }) => name);
        // Without workers Redis moves with a backlog.
        if (leaving.includes('runledger-redis-0'))
          await kubectl('scale', 'deployment/runledger-worker', '--replicas=0');
        await kubernetes.kubectl('drain', node, '--ignore-daemonsets', '--delete-emptydir-data', '--timeout=180s');
        await kubectl('scale', 'deployment/runledger-worker', '--replicas=2');
        await release.ready();
        await kubernetes.kubectl('uncordon', node);
        for (const name of leaving) moved.add(name);
      }
    });
    expect([...moved]).to.include.members(['runledger-redis-0', 'runledger-postgresql-0']);
    expectOnly(others, []);
  });

  it('survives a worker that the kernel kills for its memory', async () => {
    const worker = await podOf('worker');
    // The first process is the victim: it is the largest, and has the highest score.
    const memory = 'node --eval "const taken = Buffer.alloc(20 << 20, 1); setInterval(() => taken, 1000)"';
    const script = `echo 1000 > /proc/1/oom_score_adj; for i in $(seq 24); do ${memory} & done; wait`;
    const others = await release.underLoad(
      async () => {
        await kubectl('exec', worker, '--container', 'worker', '--', 'sh', '-c', script).catch(() => undefined);
        const path = 'jsonpath={.status.containerStatuses[0].lastState.terminated.reason}';
        const reason = (): Promise<string> => kubectl('get', 'pod', worker, '-o', path);
        await until('the kubelet has noticed', async () => (await reason()) === 'OOMKilled', 120_000, 500);
        await release.ready();
      },
      { restarts: worker },
    );
    expectOnly(others, []);
  });

  it('upgrades to changed values, and rolls back', async () => {
    const hours = 'jsonpath={..env[?(@.name=="IDEMPOTENCY_HOURS")].value}';
    const settings = async (): Promise<string[]> => [
      await kubectl('get', 'pod', await podOf('ingest'), '-o', hours),
      await kubectl('get', 'pod', await podOf('redis'), '-o', 'jsonpath={.spec.containers[0].resources.limits.memory}'),
    ];
    const old = await settings();
    const others = await release.underLoad(async () => {
      const changed = ['--reuse-values', '--set', 'config.idempotencyHours=48,redis.resources.limits.memory=768Mi'];
      await kubernetes.helm('upgrade', ...release.arguments, ...changed);
      await release.ready();
      expect(await settings()).to.deep.equal(['48', '768Mi']);
      await rollback();
      await release.ready();
      expect(await settings()).to.deep.equal(old);
    });
    expectOnly(others, []);
  });

  it('keeps the old pods when an upgrade names an image that does not exist', async () => {
    const names = async (): Promise<string[]> =>
      (await kubernetes.pods(release.namespace)).filter(({ ready }) => ready).map(({ name }) => name);
    const old = await names();
    const others = await release.underLoad(async () => {
      const bad = ['--reuse-values', '--set', 'image.tag=none', '--timeout', '15s'];
      const failed = await kubernetes.helm('upgrade', ...release.arguments, ...bad).then(
        () => false,
        () => true,
      );
      expect(failed, 'the upgrade fails').to.equal(true);
      const reasons = (): Promise<string> => kubectl('get', 'pods', '-o', 'jsonpath={..waiting.reason}');
      await until('no image', async () => /ErrImagePull|ImagePullBackOff/.test(await reasons()), 240_000, 500);
      expect(await names()).to.include.members(old);
      await rollback();
    });
    expectOnly(others, []);
  });

  const rollback = (): Promise<string> =>
    kubernetes.helm('rollback', 'runledger', '--namespace', release.namespace, '--wait', '--timeout', '120s');

  it('cuts no request in 8 rolling restarts of ingest, whose process ends by itself', async function () {
    this.timeout(600_000);
    let codes: Record<string, number> = {};
    const restarts = async (): Promise<void> => {
      // One pod: each restart moves every caller. The upgrade above rolls two over.
      await kubectl('scale', ingest, '--replicas=1');
      await release.rolledOut(ingest);
      const ended = await keepAfterEnd(kubernetes, release.namespace, [await podOf('ingest')]);
      for (let round = 1; round <= 8; round += 1) {
        await kubectl('rollout', 'restart', ingest);
        await release.rolledOut(ingest);
      }
      codes = await ended();
      await kubectl('scale', ingest, '--replicas=2');
    };
    expectOnly(await release.underLoad(restarts), []);
    expect(Object.values(codes)).to.deep.equal([0]);
  });

  it('has each event of all these loads in its log, unchanged', async () => {
    const { code, said } = await verified(kubernetes, release.namespace);
    expect(said).to.match(/^Nothing was lost, added or changed: [\d,]+ events of acme /);
    expect(code).to.equal(0);
  });
});

/** The exit codes of processes that end in order. */
function endedByThemselves(pods: readonly string[]): Record<string, number> {
  return Object.fromEntries(pods.map((pod) => [pod, 0]));
}

/** Fails on an answer that is not among the allowed ones. */
function expectOnly(others: Others, allowed: readonly number[]): void {
  const wrong = Object.entries(others).filter(([status]) => !allowed.includes(Number(status)));
  expect(Object.fromEntries(wrong)).to.deep.equal({});
}
