import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import { clusterCommands } from '../support/document-blocks.ts';
import { connectionsFrom } from '../support/node/connections.ts';
import { installation, stepsOf } from '../support/node/first-steps.ts';
import type { Kubernetes } from '../support/node/kubernetes.ts';
import { LoadedRelease } from '../support/node/loaded-release.ts';
import { Rights } from '../support/node/rights.ts';
import { until } from '../support/until.ts';
import { sharedKubernetes } from '../support/node/shared-kubernetes.ts';

/** From `helm install` in an empty cluster that has the images to the first 201, in ms. */
const longestStart = 90_000;

const tokens = 'runledger-tokens';
/** The components that read tokens. */
const readers = ['ingest', 'console'];

describe('the installation of the README, on a node of two cores and 4 GiB', () => {
  let kubernetes: Kubernetes;
  let rights: Rights;
  let existing: string[];
  let steps: string[];

  before(async () => {
    kubernetes = sharedKubernetes();
    rights = new Rights(kubernetes, 'runledger');
    await kubernetes.kubectl('cordon', 'n2');
    // Pods that do not meet the Pod Security Standard `restricted` are refused.
    await kubernetes.kubectl('create', 'namespace', 'runledger');
    await kubernetes.kubectl('label', 'namespace', 'runledger', 'pod-security.kubernetes.io/enforce=restricted');
    existing = await kubernetes.objects();
  });
  after(() => kubernetes?.kubectl('uncordon', 'n2'));

  it('answers 201 within 90 s, by the steps that its notes print', async () => {
    const began = performance.now();
    steps = await stepsOf(await kubernetes.shell(installation('charts/runledger')));
    const [wait = '', readTokens = '', register = '', readExecution = ''] = steps;
    const receipt = await kubernetes.shell([wait, readTokens, register].join('\n'));
    expect(receipt).to.include('"type_of_event":"START"');
    const took = performance.now() - began;
    // The 201 does not wait for Postgres.
    const isRunning = async (): Promise<boolean> =>
      (await kubernetes.shell(`${readTokens}\n${readExecution}`)).includes('"execution_id":"first","state":"running"');
    await until('the execution can be read', isRunning, 30_000, 500);
    console.log(`      first 201 after ${Math.round(took / 1_000)} s`);
    expect(took).to.be.lessThan(longestStart);
  });

  it('passes helm test', async () => {
    const output = await kubernetes.shell(steps.at(-1) ?? '');
    expect(output).to.match(/^Phase: +Succeeded$/m);
  });

  it('restarts no container', async () => {
    const pods = await kubernetes.pods('runledger');
    expect(pods.map(({ name }) => name.replace(/-[0-9a-f]+-\w{5}$/, '')).sort()).to.deep.equal([
      'runledger-console',
      'runledger-console',
      'runledger-controller',
      'runledger-ingest',
      'runledger-ingest',
      'runledger-postgresql-0',
      'runledger-redis-0',
      'runledger-worker',
      'runledger-worker',
    ]);
    expect(pods.filter(({ restarts }) => restarts > 0)).to.deep.equal([]);
  });

  it('runs where the Pod Security Standard refuses others', async () => {
    const privileged = kubernetes.kubectl('run', 'privileged', '--image=none', '--privileged', '--namespace=runledger');
    const refusal = await privileged.then(String, String);
    expect(refusal).to.include('violates PodSecurity "restricted');
  });

  it('gives its accounts the rights that the documentation says, and no other', async () => {
    const accounts = await kubernetes.kubectl('get', 'serviceaccounts', '--namespace', 'runledger', '-o', 'name');
    expect(accounts.trim().split('\n')).to.deep.equal([
      'serviceaccount/default',
      'serviceaccount/runledger-console',
      'serviceaccount/runledger-controller',
      'serviceaccount/runledger-ingest',
    ]);
    for (const component of readers) {
      expect(await rights.of(`runledger-${component}`, tokens), component).to.deep.equal([
        'events [create]',
        'secrets [list watch]',
      ]);
      for (const namespace of ['runledger', 'kube-system', 'default']) {
        expect(await rights.of(`runledger-${component}`, namespace), `${component} in ${namespace}`).to.deep.equal([]);
      }
    }
    for (const namespace of ['runledger', 'default']) {
      expect(await rights.of('runledger-controller', namespace), namespace).to.deep.equal([
        'automations.runledger.dev [list watch]',
        'automations.runledger.dev/status [patch]',
        'channels.runledger.dev [list watch]',
        'channels.runledger.dev/status [patch]',
        'events [create]',
        'namespaces [list watch]',
      ]);
    }
    // The account of all other pods, which mount no token of it.
    for (const namespace of ['runledger', tokens]) {
      expect(await rights.of('default', namespace), namespace).to.deep.equal([]);
    }
  });

  it('needs the right to list Secrets, to watch them, and to create Events', async () => {
    const complaints = {
      create: /create Event: the API server answered 403/,
      list: /list Secrets: the API server answered 403/,
      watch: /watch Secrets: the API server answered 403/,
    };
    const misses = async (component: string, verb: keyof typeof complaints): Promise<boolean> =>
      complaints[verb].test(await logsOf(component));
    const restore: (() => Promise<string>)[] = [];
    const takeAway = async (verb: keyof typeof complaints, resource: string): Promise<void> => {
      for (const component of readers) {
        expect(await misses(component, verb), `${component} with the right to ${verb}`).to.equal(false);
        restore.push(await rights.takeAway(component, verb, resource, tokens));
      }
    };
    /** Gives the rights back that were taken away last. */
    const giveBack = async (count: number): Promise<void> => {
      for (const give of restore.splice(-count).toReversed()) await give();
    };
    const untilMissed = async (verb: keyof typeof complaints): Promise<void> => {
      for (const component of readers) {
        await until(`${component} misses the right to ${verb}`, () => misses(component, verb), 120_000, 500);
      }
    };
    try {
      await takeAway('create', 'events');
      await kubernetes.apply({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'refused', namespace: tokens, labels: { 'runledger.dev/organization': 'refused' } },
        stringData: { token: 'short' },
      });
      await untilMissed('create');
      await takeAway('watch', 'secrets');
      await takeAway('list', 'secrets');
      // The API server ends no watch that has begun: replace one pod of each.
      const pods = (await kubernetes.pods('runledger')).map(({ name }) => name);
      const replaced = readers.flatMap((component) => pods.filter((name) => name.includes(component)).slice(0, 1));
      await kubernetes.kubectl('delete', 'pod', ...replaced, '--namespace', 'runledger', '--now');
      await untilMissed('list');
      await giveBack(readers.length);
      await untilMissed('watch');
    } finally {
      await giveBack(restore.length);
    }
    await kubernetes.kubectl('delete', 'secret', 'refused', '--namespace', tokens);
    for (const component of readers) {
      await kubernetes.kubectl('rollout', 'status', `deployment/runledger-${component}`, '--namespace', 'runledger');
    }
  });

  const logsOf = (component: string): Promise<string> =>
    kubernetes
      .kubectl('logs', `--selector=app.kubernetes.io/component=${component}`, '--namespace=runledger', '--tail=-1')
      .catch(() => '');

  it('has NetworkPolicies that admit only the named peers', async () => {
    await kubernetes.kubectl('create', 'namespace', 'monitoring');
    const [strangers, monitoring] = await Promise.all([startProbe('default'), startProbe('monitoring')]);
    const worker = ['--namespace', 'runledger', 'deployment/runledger-worker'];
    const reader = ['--namespace', 'runledger', 'deployment/runledger-console'];
    const controller = ['--namespace', 'runledger', 'deployment/runledger-controller'];
    const ingestPod = (await kubernetes.pods('runledger')).find(({ name }) => name.includes('ingest'));
    const service = (name: string): string => `${name}.runledger.svc.cluster.local`;
    const redis = [service('runledger-redis'), 6379] as const;
    const postgres = [service('runledger-postgresql'), 5432] as const;
    const https = [service('runledger'), 443] as const;
    const ops = [ingestPod?.address ?? '', 9090] as const;
    const apiServer = ['10.96.0.1', 443] as const;
    const looks = {
      strangers: [strangers, { redis, postgres, https, ops }],
      monitoring: [monitoring, { redis, ops }],
      worker: [worker, { redis, postgres, https, apiServer }],
      console: [reader, { redis, postgres, https }],
      controller: [controller, { redis, postgres, apiServer }],
    } as const;
    const look = async (): Promise<Record<string, Record<string, boolean>>> => {
      const found = Object.entries(looks).map(async ([name, [pod, targets]]) => {
        return [name, await connectionsFrom(kubernetes, pod, targets)] as const;
      });
      return Object.fromEntries(await Promise.all(found));
    };
    const admitted = {
      strangers: { redis: false, postgres: false, https: true, ops: false },
      monitoring: { redis: false, ops: true },
      worker: { redis: true, postgres: true, https: false, apiServer: false },
      console: { redis: false, postgres: true, https: false },
      controller: { redis: true, postgres: true, apiServer: true },
    };
    // The nodes may learn of a new pod a moment after it is ready.
    let reached = await look();
    const end = performance.now() + 30_000;
    while (!isDeepStrictEqual(reached, admitted) && performance.now() < end) reached = await look();
    expect(reached).to.deep.equal(admitted);
    // It is the policies that refuse: without them everybody connects.
    await kubernetes.kubectl('delete', 'networkpolicy', '--all', '--namespace', 'runledger');
    const refused = async (): Promise<boolean> =>
      Object.values(await look()).some((reached) => Object.values(reached).includes(false));
    await until('without policies everybody connects', async () => !(await refused()), 30_000, 500);
    const remove = ([, namespace = '']: string[]): Promise<string> =>
      kubernetes.kubectl('delete', 'pod', 'probe', '--now', '--namespace', namespace);
    await Promise.all([strangers, monitoring].map(remove));
    await kubernetes.kubectl('delete', 'namespace', 'monitoring');
  });

  /** A pod that waits for commands; resolves with what names it to kubectl. */
  const startProbe = async (namespace: string): Promise<string[]> => {
    const image = (
      await kubernetes.kubectl(
        'get',
        'deployment',
        'runledger-worker',
        '--namespace',
        'runledger',
        '-o',
        'go-template={{(index .spec.template.spec.containers 0).image}}',
      )
    ).trim();
    const wait = ['--command', '--', 'node', '--eval', 'setInterval(() => {}, 60000)'];
    await kubernetes.kubectl('run', 'probe', '--namespace', namespace, '--image', image, ...wait);
    await kubernetes.kubectl('wait', '--for=condition=Ready', 'pod/probe', '--namespace', namespace);
    return ['--namespace', namespace, 'probe'];
  };

  it('leaves at uninstallation what the documentation says', async () => {
    // Its event waits in Redis.
    await kubernetes.kubectl('scale', 'deployment/runledger-worker', '--replicas=0', '--namespace', 'runledger');
    await until(
      'the workers have stopped',
      async () => !(await kubernetes.pods('runledger')).some(({ name }) => name.includes('worker')),
      30_000,
      250,
    );
    const [, readTokens = '', register = ''] = steps;
    const receipt = await kubernetes.shell(`${readTokens}\n${register.replace('"first"', '"kept"')}`);
    expect(receipt).to.include('"execution_id":"kept"');
    await kubernetes.shell(clusterCommands('docs/operate/upgrade.md', 2));
    await kubernetes.shell(clusterCommands('docs/operate/upgrade.md', 3));
    const left = await until(
      'all pods have stopped',
      async () => {
        const objects = await kubernetes.objects();
        return objects.some((object) => object.startsWith('Pod runledger/')) ? undefined : objects;
      },
      120_000,
      1_000,
    );
    const kept = left.filter((object) => !existing.includes(object)).map((object) => object.replace(/pvc-.*/, 'pvc'));
    expect(kept).to.deep.equal([
      'APIService /v1beta1.runledger.dev',
      'CustomResourceDefinition /automations.runledger.dev',
      'CustomResourceDefinition /channels.runledger.dev',
      'Namespace /runledger-tokens',
      'PersistentVolume /pvc',
      'PersistentVolume /pvc',
      'PersistentVolumeClaim runledger/data-runledger-postgresql-0',
      'PersistentVolumeClaim runledger/data-runledger-redis-0',
      'Secret runledger/runledger-postgresql',
    ]);
  });

  it('finds its data when it is installed again, in Postgres and in Redis', async () => {
    const rows = (): Promise<string> =>
      kubernetes.kubectl(
        'exec',
        '--namespace',
        'runledger',
        'runledger-postgresql-0',
        '--',
        'psql',
        '-U',
        'runledger',
        '-Atc',
        "select execution_id from executions where execution_id in ('first', 'kept') order by first_event_at",
      );
    await LoadedRelease.shared(kubernetes);
    const stored = async (): Promise<boolean> => (await rows()) === 'first\nkept\n';
    await until('the event that waited in Redis is stored', stored, 30_000, 500);
  });
});
