import type { EventKind } from '../../event/schema.ts';
import type { JobFacts } from './read-job.ts';
import type { PodFailure } from './read-pod.ts';
import { eventTexts, type EventTexts } from './texts.ts';

/** An event of a Job. */
export interface JobEvent extends EventTexts {
  /** Identifies the event within its Job: START, ERROR, END, or a failure of a Pod. */
  readonly key: string;
  readonly kind: EventKind;
  /** In ms since the Unix epoch; undefined if Kubernetes does not say. */
  readonly occurredAt: number | undefined;
}

/** The events of a Job and its failed Pods so far; none before it starts. */
export function eventsOfJob(job: JobFacts, failures: readonly PodFailure[]): JobEvent[] {
  const startedAt = job.startedAt ?? (job.end === undefined ? undefined : job.createdAt);
  if (startedAt === undefined) return [];
  const warnings = failures.toSorted((one, other) => (one.at ?? 0) - (other.at ?? 0)).map(warningOf);
  return [startOf(startedAt, startSentence(job, startedAt)), ...warnings, ...endOf(job)];
}

/**
 * The events of a Job that was deleted before it ended. Without `startedAt` there are none: it
 * never ran.
 */
export function eventsOfDeletion(
  { name, startedAt }: Pick<JobFacts, 'name' | 'startedAt'>,
  deletedAt: number | undefined,
): JobEvent[] {
  if (startedAt === undefined) return [];
  const texts = {
    description: `Job ${name} was deleted`,
    errorId: 'JobDeleted',
    errorDescription: 'The Job was deleted before it ended.',
  };
  return [startOf(startedAt, `Job ${name}`), ...failedAt(deletedAt, texts)];
}

function startOf(startedAt: number, description: string): JobEvent {
  return { key: 'START', kind: 'START', occurredAt: startedAt, ...eventTexts({ description }) };
}

function startSentence({ name, cronJob, scheduledAt }: JobFacts, startedAt: number): string {
  if (cronJob === undefined) return `Job ${name}`;
  const of = `Job ${name} of CronJob ${cronJob.name}`;
  if (scheduledAt === undefined) return of;
  const lateness = Math.max(0, Math.round((startedAt - scheduledAt) / 1_000));
  const time = new Date(scheduledAt).toISOString().replace('.000Z', 'Z');
  return `${of}, scheduled for ${time}, started ${lateness} s later`;
}

function warningOf({ key, at, sentence, reason, message }: PodFailure): JobEvent {
  const texts = { description: sentence, errorId: reason, errorDescription: message };
  return { key, kind: 'WARNING', occurredAt: at, ...eventTexts(texts) };
}

function endOf({ name, end }: JobFacts): JobEvent[] {
  if (end === undefined) return [];
  if (end.failure === undefined) return [ended(end.at)];
  const { reason, message } = end.failure;
  return failedAt(end.at, { description: `Job ${name} failed`, errorId: reason, errorDescription: message });
}

function failedAt(at: number | undefined, texts: EventTexts): JobEvent[] {
  return [{ key: 'ERROR', kind: 'ERROR', occurredAt: at, ...eventTexts(texts) }, ended(at)];
}

function ended(at: number | undefined): JobEvent {
  return { key: 'END', kind: 'END', occurredAt: at, ...eventTexts({}) };
}
