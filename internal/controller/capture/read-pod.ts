import { timeOf } from '../../event/occurred-at.ts';
import { controllerOf, type ContainerStatus, type PodManifest, type Terminated } from './batch.ts';
import { lastLinesOf } from './texts.ts';

/** A Pod of a Job. */
export interface PodFacts {
  readonly jobUid: string;
  readonly namespace: string;
  readonly failures: readonly PodFailure[];
}

/** A failed Pod, or a container that was restarted in one. */
export interface PodFailure {
  /** Identifies the failure within its Job. */
  readonly key: string;
  /** In ms since the Unix epoch. */
  readonly at: number | undefined;
  readonly sentence: string;
  readonly reason: string;
  readonly message: string;
}

/** Reads a Pod as the API server sends it; undefined unless a Job controls it. */
export function readPod(pod: PodManifest): PodFacts | undefined {
  const job = controllerOf(pod, 'Job');
  if (job === undefined) return undefined;
  const { initContainerStatuses = [], containerStatuses = [], phase } = pod.status ?? {};
  const containers = [...initContainerStatuses, ...containerStatuses];
  const restarts = containers.flatMap((container) => restartOf(pod, container) ?? []);
  const failures = phase === 'Failed' ? [...restarts, failureOf(pod, containers)] : restarts;
  return { jobUid: job.uid, namespace: pod.metadata?.namespace ?? '', failures };
}

/** With `restartPolicy: OnFailure` the Pod stays, and the kubelet restarts its container. */
function restartOf(pod: PodManifest, { name, restartCount = 0, lastState }: ContainerStatus): PodFailure | undefined {
  const ended = lastState?.terminated;
  if (ended === undefined || ended.exitCode === 0 || restartCount === 0) return undefined;
  return {
    key: `WARNING/${pod.metadata?.uid}/${name}/${restartCount}`,
    at: timeOf(ended.finishedAt ?? ''),
    sentence: `${titleOf(pod)}: ${exitOf(name, ended)}; restart ${restartCount}`,
    reason: ended.reason ?? 'Error',
    message: lastLinesOf(ended.message ?? ''),
  };
}

function failureOf(pod: PodManifest, containers: readonly ContainerStatus[]): PodFailure {
  const { reason, message = '' } = pod.status ?? {};
  const failed = containers.flatMap(({ name, state }) => {
    const ended = state?.terminated;
    return ended === undefined || ended.exitCode === 0 ? [] : { name, ended };
  });
  const exits = failed.map(({ name, ended }) => exitOf(name, ended));
  const times = failed.flatMap(({ ended }) => timeOf(ended.finishedAt ?? '') ?? []);
  const said = failed.map(({ ended }) => ended.message ?? '').find((text) => text !== '') ?? message;
  return {
    key: `WARNING/${pod.metadata?.uid}`,
    at: times.length === 0 ? undefined : Math.max(...times),
    sentence: `${titleOf(pod)}: ${exits.length === 0 ? 'failed' : exits.join('; ')}`,
    reason: reason ?? failed[0]?.ended.reason ?? 'PodFailed',
    message: lastLinesOf(said),
  };
}

function titleOf({ metadata }: PodManifest): string {
  const index = metadata?.annotations?.['batch.kubernetes.io/job-completion-index'];
  return `Pod ${metadata?.name}${typeof index === 'string' ? ` of index ${index}` : ''}`;
}

function exitOf(container: string, { exitCode, reason }: Terminated): string {
  return `container ${container} ended with exit code ${exitCode}${reason === undefined ? '' : ` (${reason})`}`;
}
