import { warningEvent, type WarningEvent } from '../kubernetes/events.ts';
import { automationAnnotation } from './batch.ts';
import type { CronJobFacts } from './read-cron-job.ts';
import type { JobFacts } from './read-job.ts';

/** Returns a Warning Event for each labelled Job that is not recorded as its owner wants. */
export function jobWarnings(
  jobs: readonly JobFacts[],
  organizationOf: (job: JobFacts) => string | undefined,
): WarningEvent[] {
  return jobs.flatMap((job) => {
    const organization = organizationOf(job);
    if (organization === undefined && job.capture === 'true') {
      const message = `not recorded: namespace ${job.namespace} has no label runledger.dev/organization`;
      return [warningOf(job, 'NoOrganization', message)];
    }
    if (organization === undefined || !job.misnamed) return [];
    const message = `the annotation ${automationAnnotation} is not a UUID; recorded as automation ${job.automationId}`;
    return [warningOf(job, 'InvalidAutomationId', message)];
  });
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
