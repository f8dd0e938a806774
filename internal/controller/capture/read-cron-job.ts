import type { DeclaredAutomation } from '../declarations/declarations.ts';
import type { DeclaredExpectation } from '../../expectation/automation.ts';
import { cronAliases } from '../../expectation/cron.ts';
import { readAutomation } from '../../expectation/read-automation.ts';
import { annotatedAutomation, captureLabel, type CronJobManifest } from './batch.ts';

/** What a CronJob declares through its schedule. */
export interface CronJobFacts extends Omit<DeclaredAutomation, 'organization'> {
  /** The value of the label on its template. */
  readonly capture: string | undefined;
  readonly createdAt: string;
}

/**
 * Reads a CronJob. If Runledger cannot read its schedule, nothing is expected, and a note tells the
 * owner why.
 */
export function readCronJob({ metadata = {}, spec = {} }: CronJobManifest): CronJobFacts {
  const { uid = '', namespace = '', name = '', generation = 0, creationTimestamp = '' } = metadata;
  const template = spec.jobTemplate?.metadata;
  const capture = template?.labels?.[captureLabel];
  const identity = { automationId: annotatedAutomation(template) ?? uid, displayName: name };
  const { spec: checked, problems } = readAutomation({ ...identity, expect: expectationOf(spec) });
  return {
    ...identity,
    owner: '',
    tags: [],
    links: [],
    expect: checked?.expect,
    ...(checked === undefined && { note: noteOf(spec.schedule ?? '', problems) }),
    alertLabels: {},
    suspend: spec.suspend === true,
    namespace,
    name,
    uid,
    generation,
    capture: typeof capture === 'string' ? capture : undefined,
    createdAt: creationTimestamp,
  };
}

function noteOf(schedule: string, problems: readonly string[]): string {
  const why = problems.map((problem) => problem.replace(/^expect\.(\w+): /, '$1 ')).join('; ');
  return `Nothing is expected of this CronJob, since its schedule ${schedule} cannot be read (${why}): declare an Automation for it.`;
}

function expectationOf({ schedule = '', timeZone }: NonNullable<CronJobManifest['spec']>): DeclaredExpectation {
  const every = /^@every (.+)$/.exec(schedule)?.[1];
  if (every !== undefined) return { every };
  const alias = Object.hasOwn(cronAliases, schedule) ? cronAliases[schedule] : undefined;
  return { schedule: alias ?? schedule, ...(timeZone !== undefined && { timeZone }) };
}
