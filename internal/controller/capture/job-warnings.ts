import { firstOfNamespaces, warningEvent, type WarningEvent } from '../../cluster/events.ts';
import { automationAnnotation } from './batch.ts';
import type { CronJobFacts } from './read-cron-job.ts';
import type { JobFacts } from './read-job.ts';
import type { PresentJob } from './tracked-jobs.ts';

/**
 * Returns Warning Events for labelled Jobs that are not recorded as their owners expect: for the
 * first hundred per namespace.
 * @param left one Job of each namespace that has too many Jobs to follow.
 */
export function jobWarnings(
  jobs: readonly PresentJob[],
  left: readonly JobFacts[],
  organizationOf: (job: JobFacts) => string | undefined,
): WarningEvent[] {
  const tooMany = left
    .filter((job) => organizationOf(job) !== undefined)
    .map((job) => warningOf(job, 'TooManyJobs', 'not recorded: the namespace has more Jobs than Runledger follows'));
  const others = jobs.flatMap((job) => warningAbout(job, organizationOf(job.facts)) ?? []);
  return firstOfNamespaces([...tooMany, ...others]);
}

function warningAbout(
  { facts, isDisowned, problem }: PresentJob,
  organization: string | undefined,
): WarningEvent | undefined {
  if (organization === undefined) {
    if (facts.capture !== 'true') return undefined;
    const message = `not recorded: namespace ${facts.namespace} has no label runledger.dev/organization`;
    return warningOf(facts, 'NoOrganization', message);
  }
  if (problem !== undefined) return warningOf(facts, 'NotRecorded', `not recorded: ${problem}`);
  const as = `recorded as automation ${facts.automationId}`;
  if (facts.misnamed) {
    const message = `the annotation ${automationAnnotation} is not a UUID; ${as}`;
    return warningOf(facts, 'InvalidAutomationId', message);
  }
  if (!isDisowned) return undefined;
  return warningOf(facts, 'NoCronJob', `the namespace does not have the CronJob that owns the Job; ${as}`);
}

function warningOf({ namespace, name, uid }: JobFacts, reason: string, message: string): WarningEvent {
  return warningEvent({
    object: { apiVersion: 'batch/v1', kind: 'Job', namespace, name, uid, resourceVersion: '' },
    reason,
    message,
    change: [uid, reason],
    component: 'controller',
  });
}

/** Returns a Warning Event for each captured CronJob whose schedule cannot be read. */
export function cronJobWarnings(
  cronJobs: readonly CronJobFacts[],
  organizationOf: (cronJob: CronJobFacts) => string | undefined,
): WarningEvent[] {
  return cronJobs.flatMap((cronJob) => {
    const { namespace, name, uid, note } = cronJob;
    if (note === undefined || organizationOf(cronJob) === undefined) return [];
    const object = { apiVersion: 'batch/v1', kind: 'CronJob', namespace, name, uid, resourceVersion: '' };
    return [
      warningEvent({ object, reason: 'UnknownSchedule', message: note, change: [uid, note], component: 'controller' }),
    ];
  });
}
