import type { AcceptedEvent } from '../../../internal/event/event.ts';
import { Schedule } from '../../../internal/expectation/schedule.ts';
import { Zone } from '../../../internal/expectation/zone.ts';
import type { Database } from '../../../internal/store/database.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { anEvent } from '../events.ts';

const minute = 60_000;
const nights = 13;

/** What happened some nights ago; the others were well. The newest one has no run. */
const unusual: Readonly<Record<number, 'missing' | 'late' | 'failed' | 'long'>> = {
  0: 'missing',
  2: 'late',
  5: 'missing',
  8: 'failed',
  11: 'long',
};

/** Stores the runs of a nightly automation. Resolves with a time before the first one, in ms. */
export async function storeNightlyRuns(
  db: Database,
  { automationId, schedule, timeZone }: { automationId: string; schedule: string; timeZone: string },
  now: number,
): Promise<number> {
  const times = new Schedule(schedule, new Zone(timeZone));
  const events: AcceptedEvent[] = [];
  let expected = times.upTo(now - 60 * minute) ?? now;
  for (let night = 0; night < nights; night += 1) {
    events.push(...eventsOfNight(automationId, expected, night));
    expected = times.upTo(expected - 1) ?? expected;
  }
  await recordEvents(db, events);
  return expected + 60 * minute;
}

function eventsOfNight(automationId: string, expected: number, night: number): AcceptedEvent[] {
  const how = unusual[night];
  if (how === 'missing') return [];
  const begin = expected + (how === 'late' ? 25 : 1) * minute;
  const end = begin + (how === 'long' ? 70 : 12 + ((night * 7) % 17)) * minute;
  const executionId = new Date(expected).toISOString().slice(0, 10);
  const event = (kind: AcceptedEvent['kind'], createdAt: number, more: Partial<AcceptedEvent> = {}) =>
    anEvent({ automationId, executionId, kind, createdAt, ...more });
  const error = { errorId: 'E-LEDGER', errorDescription: 'The ledger of the day is not closed.' };
  return [
    event('START', begin, { description: 'Invoices of the day' }),
    ...(how === 'failed' ? [event('ERROR', end, error)] : []),
    event('END', end + 1, { description: how === 'failed' ? '' : 'All invoices are sent' }),
  ];
}
