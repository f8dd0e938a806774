import { expect } from 'chai';
import { clusterCommands, runbooksWithCommands } from '../support/document-blocks.ts';
import type { Kubernetes } from '../support/node/kubernetes.ts';
import { LoadedRelease } from '../support/node/loaded-release.ts';
import { sharedKubernetes } from '../support/node/shared-kubernetes.ts';
import { until } from '../support/until.ts';

/** What the commands of a runbook show while nothing is wrong, by its alert. */
const shown: Readonly<Record<string, RegExp>> = {
  RunledgerBlind: /blind_reason/,
  RunledgerControllerMissing: /^runledger-controller-\S+ +1\/1 +Running/m,
  RunledgerDeclarationsStale: /^yes$/m,
  RunledgerIngestMissing: /"organization":"acme"/,
  RunledgerJobsNotRecorded: /^yes$/m,
  RunledgerNoTicks: /^ *pid /m,
  RunledgerNotificationsFailing: /^ *channel_namespace /m,
  RunledgerOutboxGrowing: /^ *channel_namespace /m,
  RunledgerRedisNotDurable: /^appendfsync\s+always$[^]*^noeviction$/m,
  RunledgerWorkerClockWrong: /^\d{4}-\d\d-\d\dT/m,
  RunledgerWorkerMissing: /^runledger-worker-\S+ +1\/1 +Running/m,
};

/** What a reader of a runbook fills in. */
const filledIn = (commands: string, { url, token }: LoadedRelease['reporting'], namespace: string): string =>
  commands
    .replaceAll('<tokens namespace>', namespace)
    .replaceAll('<name>', 'acme')
    .replaceAll('<worker>', 'deploy/runledger-worker')
    .replaceAll('https://<your address>/', url.href)
    .replaceAll('token: …', `token: ${token}`);

describe('the commands of the pages for operators, in a release', () => {
  let kubernetes: Kubernetes;
  let release: LoadedRelease;

  before(async () => {
    kubernetes = sharedKubernetes();
    release = await LoadedRelease.shared(kubernetes);
  });

  /** Runs commands after those of the page on call, which change a copy of the kubeconfig. */
  const onCall = (commands: string): Promise<string> => {
    const { url, address } = release.reporting;
    const prelude = `
      copy=$(mktemp); trap 'rm "$copy"' EXIT; cp "$KUBECONFIG" "$copy"; export KUBECONFIG=$copy
      exec < /dev/null
      curl() { command curl --silent --insecure --resolve ${url.hostname}:443:${address} "$@"; }
      # It fails when it finds nothing.
      grep() { command grep "$@" || [ $? = 1 ]; }`;
    return kubernetes.shell([prelude, clusterCommands('docs/operate/on-call.md'), commands].join('\n'));
  };

  it('reach the command for administrators, Redis and Postgres', async () => {
    const said = await onCall('admin token create; redis-cli ping; psql "$DATABASE_URL" -Atc "select 40 + 2"');
    expect(said).to.match(/^rl_\S+\s+PONG\s+42\s*$/m);
  });

  it('restart what uses the password of Redis', async () => {
    const pods = async (): Promise<string[]> => (await kubernetes.pods(release.namespace)).map(({ name }) => name);
    const before = await pods();
    await kubernetes.shell(clusterCommands('docs/operate/secrets.md', 1));
    const workloads = ['ingest', 'worker', 'controller'].map((component) => `deployment/runledger-${component}`);
    await release.rolledOut('statefulset/runledger-redis', ...workloads);
    await release.ready();
    const kept = (await pods()).filter((name) => before.includes(name)).map((name) => name.split('-')[1]);
    expect(new Set(kept)).to.deep.equal(new Set(['console', 'postgresql', 'redis']));
  });

  it('restart ingest, so that its pods have a log of an earlier container', async () => {
    const restarts = async (): Promise<number[]> =>
      (await kubernetes.pods(release.namespace))
        .filter(({ name }) => name.includes('ingest'))
        .map((pod) => (pod.ready ? pod.restarts : 0));
    for (const { name } of await kubernetes.pods(release.namespace)) {
      if (!name.includes('ingest')) continue;
      await kubernetes.kubectl('exec', '--namespace', release.namespace, name, '--', 'sh', '-c', 'kill 1');
    }
    await until('ingest is ready again', async () => (await restarts()).every((count) => count > 0), 120_000, 250);
  });

  for (const alert of runbooksWithCommands()) {
    it(`run in the order of the runbook ${alert}`, async () => {
      const commands = clusterCommands(`docs/operate/runbooks/${alert}.md`);
      const said = await onCall(filledIn(commands, release.reporting, release.namespace));
      expect(said).to.match(shown[alert] ?? /^/);
    });
  }
});
