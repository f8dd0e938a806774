import type { AcceptedEvent } from '../../internal/event/event.ts';
import type { Transition } from '../../internal/expectation/transition.ts';
import type { Database } from '../../internal/store/database.ts';
import { recordEvents } from '../../internal/store/record-events.ts';
import { anEvent } from './events.ts';
import { marginMs } from './expectations.ts';

/** The automation that tests of verdicts are about. */
export const automationId = '0190a0b0-0000-7000-8000-000000000001';

/** A nightly run, expected at 02:30. */
export const nightly = {
  schedule: '30 2 * * *',
  grace: '10m',
  maxDuration: '45m',
  failures: { consecutive: 1 },
};

/** A time of 25 November 2026, UTC. */
export function at(time: string): number {
  return Date.parse(`2026-11-25T${time}Z`);
}

/** The clock at which the watermark is at this time. */
export function when(watermark: string): number {
  return at(watermark) + marginMs;
}

/** What each transition says, in one text. */
export function told(transitions: readonly Transition[]): string[] {
  return transitions.map(({ change, alert: { kind, occurrence } }) => `${change} ${kind} ${occurrence}`);
}

/** Stores an event that was accepted at a time of the day. */
export async function storeEvent(
  db: Database,
  time: string,
  kind: AcceptedEvent['kind'],
  { executionId = 'a', automation = automationId }: { executionId?: string; automation?: string } = {},
): Promise<void> {
  await recordEvents(db, [anEvent({ automationId: automation, createdAt: at(time), kind, executionId })]);
}

/** All alerts, the oldest first. */
export function alertsOf(db: Database) {
  return db
    .selectFrom('alerts')
    .select(['kind', 'occurrence', 'opened_at', 'resolved_at', 'resolved_reason'])
    .orderBy('opened_at')
    .execute();
}
