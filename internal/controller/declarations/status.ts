import type { Acceptance } from './declare.ts';
import type { Health } from './health.ts';
import type { Condition, LastExecution, ResourceStatus } from './manifest.ts';

/**
 * Returns the status that a resource should have. `health` and `last` are for automations. A
 * condition keeps its time while its status stays the same.
 */
export function statusOf(
  { kind, manifest, accepted, reason, message }: Acceptance,
  health: Health,
  last: LastExecution | undefined,
  now: Date,
): ResourceStatus {
  const generation = manifest.metadata?.generation;
  const condition = (type: Condition['type'], found: Health): Condition => {
    const before = manifest.status?.conditions?.find((one) => one.type === type);
    const lastTransitionTime =
      before?.status === found.status ? before.lastTransitionTime : now.toISOString().replace(/\.\d+/, '');
    return { type, ...found, lastTransitionTime, ...(generation !== undefined && { observedGeneration: generation }) };
  };
  const ready = condition('Ready', { status: accepted ? 'True' : 'False', reason, message });
  const notAccepted: Health = { status: 'Unknown', reason: 'NotAccepted', message: 'the declaration is not accepted' };
  const healthy = kind === 'Automation' ? [condition('Healthy', accepted ? health : notAccepted)] : [];
  return {
    ...(generation !== undefined && { observedGeneration: generation }),
    ...(last !== undefined && { lastExecution: last }),
    conditions: [ready, ...healthy],
  };
}

/** True if a condition has another status or reason, or describes another generation. */
export function isTransition(before: ResourceStatus | undefined, after: ResourceStatus): boolean {
  return decisions(before) !== decisions(after);
}

function decisions({ observedGeneration, conditions = [] }: ResourceStatus = {}): string {
  return JSON.stringify([observedGeneration, conditions.map(({ type, status, reason }) => [type, status, reason])]);
}

/** True if both are equal. */
export function isSame(before: ResourceStatus | undefined, after: ResourceStatus): boolean {
  return details(before) === details(after);
}

function details({ observedGeneration, lastExecution, conditions = [] }: ResourceStatus = {}): string {
  const { executionId, state, startedAt } = lastExecution ?? {};
  const parts = conditions.map(({ type, status, reason, message }) => [type, status, reason, message]);
  return JSON.stringify([observedGeneration, executionId, state, startedAt, parts]);
}
