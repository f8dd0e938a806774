import { isUuid } from '../../event/uuid.ts';
import { timeOf } from '../../event/occurred-at.ts';
import { storable } from '../../event/stored-text.ts';
import { annotatedAutomation, automationAnnotation, captureLabel, controllerOf, type JobManifest } from './batch.ts';

/** The annotation with the scheduled time of a CronJob's Job. */
const scheduledAnnotation = 'batch.kubernetes.io/cronjob-scheduled-timestamp';

/** The annotation on a Job that `kubectl create job --from` made. */
const instantiatedAnnotation = 'cronjob.kubernetes.io/instantiate';

/** What is known about a Job. Times in ms since the Unix epoch. */
export interface JobFacts {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  /** The value of its label. */
  readonly capture: string | undefined;
  /** In lower case: the annotation, or else the UID of the CronJob, or else of the Job. */
  readonly automationId: string;
  /** True if the annotation is not a UUID. */
  readonly misnamed: boolean;
  /** The CronJob that it names as its controller, which may not exist. */
  readonly cronJob: { readonly uid: string; readonly name: string } | undefined;
  readonly scheduledAt: number | undefined;
  /** True if its annotations say that a person made it from its CronJob. */
  readonly isInstantiated: boolean;
  /** True if `isInstantiated`, or if it has a CronJob but no scheduled time. */
  readonly byHand: boolean;
  readonly createdAt: number | undefined;
  /** Undefined until it starts, and while it is suspended. */
  readonly startedAt: number | undefined;
  /** When its deletion was requested. */
  readonly deletedAt: number | undefined;
  readonly end: JobEnd | undefined;
}

export interface JobEnd {
  readonly at: number | undefined;
  /** Undefined if the Job is complete. */
  readonly failure: { readonly reason: string; readonly message: string } | undefined;
}

/** Reads a Job as the API server sends it. */
export function readJob(job: JobManifest): JobFacts {
  const { uid = '', namespace = '', name = '', annotations = {} } = job.metadata ?? {};
  const cronJob = cronJobOf(job);
  const annotated = annotatedAutomation(job.metadata);
  const capture = job.metadata?.labels?.[captureLabel];
  const scheduled = annotations[scheduledAnnotation];
  const scheduledAt = typeof scheduled === 'string' ? timeOf(scheduled) : undefined;
  const isInstantiated = instantiatedAnnotation in annotations;
  return {
    uid,
    namespace,
    name,
    capture: typeof capture === 'string' ? capture : undefined,
    automationId: annotated ?? cronJob?.uid ?? uid,
    misnamed: annotated === undefined && automationAnnotation in annotations,
    cronJob,
    scheduledAt,
    isInstantiated,
    byHand: isInstantiated || (cronJob !== undefined && scheduledAt === undefined),
    createdAt: timeOf(job.metadata?.creationTimestamp ?? ''),
    startedAt: timeOf(job.status?.startTime ?? ''),
    deletedAt: timeOf(job.metadata?.deletionTimestamp ?? ''),
    end: endOf(job),
  };
}

/** The same Job, as if it had no CronJob. */
export function withoutCronJob(facts: JobFacts): JobFacts {
  const { uid, automationId, cronJob, isInstantiated } = facts;
  const own = automationId === cronJob?.uid ? uid : automationId;
  return { ...facts, cronJob: undefined, automationId: own, byHand: isInstantiated };
}

/** The CronJob that a Job names. Its creator may have written anything there. */
function cronJobOf(job: JobManifest): JobFacts['cronJob'] {
  const { uid, name } = controllerOf(job, 'CronJob') ?? {};
  if (!isUuid(uid) || typeof name !== 'string' || !/^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$/.test(name))
    return undefined;
  return { uid: uid.toLowerCase(), name };
}

/** Maximum length of the message of a failed Job, in characters. */
const longestMessage = 4_096;

/**
 * How the Job ended. Conditions such as SuccessCriteriaMet and FailureTarget do not count: Pods of
 * the Job may still run then.
 */
function endOf({ status = {} }: JobManifest): JobEnd | undefined {
  const holding = (status.conditions ?? []).filter((condition) => condition.status === 'True');
  const failed = holding.find(({ type }) => type === 'Failed');
  if (failed !== undefined) {
    const { reason = '', message = '', lastTransitionTime = '' } = failed;
    return {
      at: timeOf(lastTransitionTime),
      failure: { reason: storable(reason, 255), message: storable(message, longestMessage) },
    };
  }
  const complete = holding.find(({ type }) => type === 'Complete');
  if (complete === undefined) return undefined;
  return { at: timeOf(status.completionTime ?? complete.lastTransitionTime ?? ''), failure: undefined };
}
