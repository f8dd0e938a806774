import type { Database } from '../../internal/store/database.ts';
import { dayOf, daysFrom } from '../../internal/store/days.ts';
import { createPartition } from '../../internal/store/partitions.ts';
import { recordEvents } from '../../internal/store/record-events.ts';
import type { AcceptedEvent } from '../../internal/event/event.ts';
import { createFleet, playExecution } from '../../cmd/demo/fleet.ts';
import { anEvent } from './events.ts';

/** How the demo fleet has run. */
export interface DemoRecord {
  /** Executions of each automation, evenly over the time before now. */
  executions: number;
  hours: number;
  organization?: string;
}

/**
 * Stores the executions of a demo fleet in the time before now, each some seconds long. The newest
 * ones of its first automation have failed.
 */
export async function storeDemoRecord(
  db: Database,
  { executions, hours, organization = 'acme' }: DemoRecord,
): Promise<void> {
  const now = Date.now();
  const begin = now - hours * 3_600_000;
  await db.transaction().execute(async (trx) => {
    for (const day of daysFrom(dayOf(begin), Math.ceil(hours / 24) + 1)) await createPartition(trx, day);
  });
  const events = createFleet().flatMap((automation, index) =>
    Array.from({ length: executions }, (_, number) => {
      const at = begin + ((number + (index + 1) / 7) / executions) * (now - begin);
      const fails = index === 0 && number >= executions - 4;
      return eventsOf(playExecution(fails ? { ...automation, failing: 1 } : automation, number), at, organization);
    }).flat(),
  );
  const past = events.filter(({ createdAt }) => createdAt <= now).sort((a, b) => a.createdAt - b.createdAt);
  for (let from = 0; from < past.length; from += 2_000) await recordEvents(db, past.slice(from, from + 2_000));
}

type Played = ReturnType<typeof playExecution>;

/** The events of one execution, which begins at a time, with pauses between them. */
function eventsOf({ events }: Played, at: number, organization: string): AcceptedEvent[] {
  let createdAt = Math.round(at);
  const executionId = `${new Date(createdAt).toISOString()}-${events[0]?.execution_id.split('-').at(-1)}`;
  return events.map((event) => {
    createdAt += Math.round(300 + 4_000 * Math.random() ** 3);
    return anEvent({
      organization,
      automationId: event.automation_id,
      executionId,
      kind: event.event,
      description: event.description,
      errorId: event.error_id ?? '',
      errorDescription: event.error_description ?? '',
      createdAt,
    });
  });
}
