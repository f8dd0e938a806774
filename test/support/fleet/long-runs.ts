import type { AcceptedEvent } from '../../../internal/event/event.ts';
import { anEvent } from '../events.ts';
import { named, type Automation } from './history.ts';
import { failureOf, progressOf } from './texts.ts';

/** A failed run of 703 events, whose ERROR is the 702nd. */
export const longFailure = { name: 'Settlement of card payments', executionId: 'settlement-703' };

/** A run of 5,000 events. */
export const longest = { name: 'Full reindex of the product catalogue', executionId: 'reindex-5000' };

/** A failed run whose errors are many. */
export const manyErrors = { name: 'SAP upload', executionId: 'upload-with-30-errors' };

/** A run that began three days ago, and reports nothing since. */
export const hanging = { name: 'Legacy scraper', executionId: 'hanging-since-three-days' };

/** The page of one of these runs. */
export function addressOf({ name, executionId }: { name: string; executionId: string }): string {
  return `/o/acme/executions/${named(name).id}/${executionId}`;
}

/** The runs of the fleet that are longer than pages, or that never end. */
export function longRunsOf({ organization, name, id }: Automation, now: number): AcceptedEvent[] {
  const events = (
    { executionId }: { executionId: string },
    kinds: readonly AcceptedEvent['kind'][],
    begin: number,
    stepMs: number,
  ): AcceptedEvent[] =>
    kinds.map((kind, index) =>
      anEvent({
        organization,
        automationId: id,
        executionId,
        kind,
        createdAt: Math.round(begin + index * stepMs),
        description: kind === 'EVENT' ? `Payment ${index} of ${kinds.length - 2} is settled` : progressOf(0, kind),
        ...(kind === 'ERROR' && failureOf(0.4)),
      }),
    );
  const many = (count: number): AcceptedEvent['kind'][] => Array.from({ length: count }, () => 'EVENT' as const);
  if (name === longFailure.name) {
    return events(longFailure, ['START', ...many(700), 'ERROR', 'END'], now - 3_000_000, 1_000);
  }
  if (name === longest.name) {
    const kinds = many(4_998).map((kind, index) => (index % 500 === 499 ? 'WARNING' : kind));
    return events(longest, ['START', ...kinds, 'END'], now - 9_000_000, 1_440);
  }
  if (name === manyErrors.name) {
    const kinds = many(60).map((kind, index) => (index % 2 === 0 ? kind : 'ERROR'));
    return events(manyErrors, ['START', ...kinds, 'END'], now - 7_000_000, 900);
  }
  if (name === hanging.name) return events(hanging, ['START', 'EVENT', 'EVENT'], now - 3 * 86_400_000, 4_000);
  return [];
}
