import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { repository } from '../support/helm.ts';
import type { Kubernetes } from '../support/node/kubernetes.ts';
import { until } from '../support/until.ts';
import { sharedKubernetes } from '../support/node/shared-kubernetes.ts';

/** From `helm install` in an empty cluster that has the images to the first 201, in ms. */
const longestStart = 90_000;

const tokens = 'runledger-tokens';
const ingest = 'app.kubernetes.io/component=ingest';

describe('the installation of the README, on a node of two cores and 4 GiB', () => {
  let kubernetes: Kubernetes;
  let existing: string[];
  let notes: string;

  before(async () => {
    kubernetes = sharedKubernetes();
    await kubernetes.kubectl('cordon', 'n2');
    // Pods that do not meet the Pod Security Standard `restricted` are refused.
    await kubernetes.kubectl('create', 'namespace', 'runledger');
    await kubernetes.kubectl('label', 'namespace', 'runledger', 'pod-security.kubernetes.io/enforce=restricted');
    existing = await kubernetes.objects();
  });
  after(() => kubernetes?.kubectl('uncordon', 'n2'));

  it('answers 201 within 90 s, by the steps that its notes print', async () => {
    const began = performance.now();
    notes = await kubernetes.shell(await installation());
    const output = await kubernetes.shell(stepsOf(notes).slice(0, -1).join('\n'));
    expect(output).to.include('"type_of_event":"START"');
    const took = performance.now() - began;
    console.log(`      first 201 after ${Math.round(took / 1_000)} s`);
    expect(took).to.be.lessThan(longestStart);
  });

  it('passes helm test', async () => {
    const output = await kubernetes.shell(stepsOf(notes).at(-1) ?? '');
    expect(output).to.match(/^Phase: +Succeeded$/m);
  });

  it('restarts no container', async () => {
    const pods = await kubernetes.pods('runledger');
    expect(pods.map(({ name }) => name.replace(/-[0-9a-f]+-\w{5}$/, '')).sort()).to.deep.equal([
      'runledger-ingest',
      'runledger-ingest',
      'runledger-postgresql-0',
      'runledger-redis-0',
      'runledger-worker',
      'runledger-worker',
    ]);
    expect(pods.filter(({ restarts }) => restarts > 0)).to.deep.equal([]);
    // One that ingest refuses, so that it writes an Event on it.
    await kubernetes.apply({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'refused', namespace: tokens, labels: { 'runledger.dev/organization': 'refused' } },
      stringData: { token: 'short' },
    });
  });

  it('gives its accounts the rights that the documentation says, and no other', async () => {
    expect(await rightsOf('runledger-ingest', tokens)).to.deep.equal(['events [create]', 'secrets [list watch]']);
    for (const namespace of ['runledger', 'kube-system', 'default']) {
      expect(await rightsOf('runledger-ingest', namespace), namespace).to.deep.equal([]);
    }
    // The account of all other pods, which mount no token of it.
    for (const namespace of ['runledger', tokens]) {
      expect(await rightsOf('default', namespace), namespace).to.deep.equal([]);
    }
  });

  for (const [verb, resource, complaint] of [
    ['list', 'secrets', /list Secrets: the API server answered 403/],
    ['watch', 'secrets', /watch Secrets: .*403|token watch failed/],
    ['create', 'events', /create Event: the API server answered 403/],
  ] as const) {
    it(`needs the right to ${verb} ${resource}`, async () => {
      expect(await ingestLogs(), 'with the right').not.to.match(complaint);
      const role = ['role', 'runledger.runledger-ingest', '--namespace', tokens];
      const { rules } = JSON.parse(await kubernetes.kubectl('get', ...role, '-o', 'json')) as { rules: Rule[] };
      const without = rules
        .map((rule) => ({
          ...rule,
          verbs: rule.verbs.filter((other) => other !== verb || !rule.resources.includes(resource)),
        }))
        .filter(({ verbs }) => verbs.length > 0);
      const patch = (kept: Rule[]): Promise<string> =>
        kubernetes.kubectl('patch', ...role, '--type', 'merge', '--patch', JSON.stringify({ rules: kept }));
      await patch(without);
      try {
        await kubernetes.kubectl('delete', 'pod', '--selector', ingest, '--namespace', 'runledger', '--wait=false');
        await until('ingest complains', async () => (complaint.test(await ingestLogs()) ? true : undefined), 120_000);
      } finally {
        await patch(rules);
      }
      await kubernetes.kubectl('delete', 'pod', '--selector', ingest, '--namespace', 'runledger', '--now');
      await kubernetes.kubectl('rollout', 'status', 'deployment/runledger-ingest', '--namespace', 'runledger');
    });
  }

  const ingestLogs = (): Promise<string> =>
    kubernetes.kubectl('logs', '--selector', ingest, '--namespace', 'runledger', '--tail=-1').catch(() => '');

  /**
   * The rights of an account in a namespace, beyond those of an account to which nobody gave any.
   */
  const rightsOf = async (account: string, namespace: string): Promise<string[]> => {
    const list = async (name: string): Promise<string[]> => {
      const rows = await kubernetes.kubectl(
        'auth',
        'can-i',
        '--list',
        '--no-headers',
        '--namespace',
        namespace,
        '--as',
        `system:serviceaccount:runledger:${name}`,
      );
      return rows
        .trim()
        .split('\n')
        .map((row) =>
          row
            .replaceAll(/\s+\[\]/g, '')
            .replaceAll(/\s+/g, ' ')
            .trim(),
        );
    };
    const everybody = await list('nobody');
    return (await list(account)).filter((row) => !everybody.includes(row)).sort();
  };

  it('lets only those connect whom its NetworkPolicies name', async () => {
    await kubernetes.kubectl('create', 'namespace', 'monitoring');
    const strangers = await startProbe('default');
    const monitoring = await startProbe('monitoring');
    const worker = ['--namespace', 'runledger', 'deployment/runledger-worker'];
    const services = { redis: 'runledger-redis:6379', postgres: 'runledger-postgresql:5432', https: 'runledger:443' };
    const ingestPod = (await kubernetes.pods('runledger')).find(({ name }) => name.includes('ingest'));
    const ops = `${ingestPod?.address}:9090`;
    const connects = async (from: string[], target: string): Promise<boolean> => {
      const [host, port] = target.split(':');
      const name = /^[\d.]+$/.test(host ?? '') ? host : `${host}.runledger.svc.cluster.local`;
      const script = `
        const socket = require('node:net').connect(${port}, '${name}');
        socket.on('connect', () => { console.log('true'); process.exit(); });
        socket.on('error', () => { console.log('false'); process.exit(); });
        setTimeout(() => { console.log('false'); process.exit(); }, 2000);`;
      return (await kubernetes.kubectl('exec', ...from, '--', 'node', '--eval', script)).trim() === 'true';
    };
    const found = {
      'strangers to Redis': await connects(strangers, services.redis),
      'strangers to Postgres': await connects(strangers, services.postgres),
      'strangers to HTTPS': await connects(strangers, services.https),
      'strangers to the ops port': await connects(strangers, ops),
      'monitoring to the ops port': await connects(monitoring, ops),
      'monitoring to Redis': await connects(monitoring, services.redis),
      'worker to Redis': await connects(worker, services.redis),
      'worker to Postgres': await connects(worker, services.postgres),
      'worker to the API server': await connects(worker, '10.96.0.1:443'),
      'worker to HTTPS': await connects(worker, services.https),
    };
    expect(found).to.deep.equal({
      'strangers to Redis': false,
      'strangers to Postgres': false,
      'strangers to HTTPS': true,
      'strangers to the ops port': false,
      'monitoring to the ops port': true,
      'monitoring to Redis': false,
      'worker to Redis': true,
      'worker to Postgres': true,
      'worker to the API server': false,
      'worker to HTTPS': false,
    });
    // It is the policies that refuse.
    await kubernetes.kubectl('delete', 'networkpolicy', '--all', '--namespace', 'runledger');
    await until('without policies strangers connect', async () =>
      (await connects(strangers, services.redis)) ? true : undefined,
    );
    for (const [, namespace = ''] of [strangers, monitoring]) {
      await kubernetes.kubectl('delete', 'pod', 'probe', '--now', '--namespace', namespace);
    }
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
    await kubernetes.kubectl('delete', 'secret', 'refused', '--namespace', tokens);
    await kubernetes.helm('uninstall', 'runledger', '--namespace', 'runledger', '--wait');
    const left = await until(
      'all pods have stopped',
      async () => {
        const objects = await kubernetes.objects();
        return objects.some((object) => object.startsWith('Pod runledger/')) ? undefined : objects;
      },
      120_000,
    );
    const kept = left.filter((object) => !existing.includes(object)).map((object) => object.replace(/pvc-.*/, 'pvc'));
    expect(kept).to.deep.equal([
      'Namespace /runledger-tokens',
      'PersistentVolume /pvc',
      'PersistentVolume /pvc',
      'PersistentVolumeClaim runledger/data-runledger-postgresql-0',
      'PersistentVolumeClaim runledger/data-runledger-redis-0',
      'Secret runledger/runledger-postgresql',
    ]);
  });

  it('finds its data when it is installed again', async () => {
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
        `select execution_id from executions where execution_id = 'first'`,
      );
    await kubernetes.shell(`${await installation()} --wait`);
    expect(await rows()).to.equal('first\n');
    await kubernetes.helm('uninstall', 'runledger', '--namespace', 'runledger', '--wait');
  });
});

interface Rule {
  readonly resources: string[];
  readonly verbs: string[];
}

/** The command of the README. */
async function installation(): Promise<string> {
  const readme = await readFile(join(repository, 'README.md'), 'utf8');
  const [, command = ''] = /```sh\n(helm install runledger [^`]*)```/.exec(readme) ?? [];
  return command.trim();
}

/** The commands that the notes print, step by step. */
function stepsOf(notes: string): string[] {
  const steps = notes.split(/^\d\. /m).slice(1);
  return steps.map((step) => [...step.matchAll(/^ {3}(.*)$/gm)].map(([, line]) => line).join('\n'));
}
