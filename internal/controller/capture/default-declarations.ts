import type { DeclaredAutomation, Declarations } from '../declarations/declarations.ts';
import { declaredLimits } from '../declarations/declared-limits.ts';
import { identityOf } from '../declarations/health.ts';
import type { CronJobFacts } from './read-cron-job.ts';

/**
 * The declarations of captured CronJobs; if two name the same automation, the older one counts. An
 * organization may have as many as it may declare by resources.
 */
export function declarationsOf(
  cronJobs: readonly CronJobFacts[],
  organizationOf: (cronJob: CronJobFacts) => string | undefined,
): DeclaredAutomation[] {
  const oldestFirst = cronJobs.toSorted((one, other) => {
    return one.createdAt.localeCompare(other.createdAt) || one.uid.localeCompare(other.uid);
  });
  const declared = new Map<string, DeclaredAutomation>();
  const counts = new Map<string, number>();
  for (const cronJob of oldestFirst) {
    const organization = organizationOf(cronJob);
    if (organization === undefined) continue;
    const { capture: _, createdAt: __, ...rest } = cronJob;
    const automation = { ...rest, organization };
    const count = counts.get(organization) ?? 0;
    if (declared.has(identityOf(automation)) || count >= declaredLimits.automations) continue;
    counts.set(organization, count + 1);
    declared.set(identityOf(automation), automation);
  }
  return [...declared.values()];
}

/** Adds the defaults of the automations that nothing else declares. */
export function withDefaults(
  { automations, ...others }: Declarations,
  defaults: readonly DeclaredAutomation[],
): Declarations {
  const declared = new Set(automations.map(identityOf));
  return { ...others, automations: [...automations, ...defaults.filter((one) => !declared.has(identityOf(one)))] };
}
