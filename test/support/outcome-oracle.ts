import type { AcceptedEvent } from '../../internal/event/event.ts';
import type { EventKind } from '../../internal/event/schema.ts';
import type { ExecutionState } from '../../internal/event/outcome/execution-state.ts';

/**
 * The key of an execution. `automationId` is in lower case: UUIDs compare without regard to case.
 */
export interface ExecutionKey {
  organization: string;
  automationId: string;
  executionId: string;
}

/** What the events of one execution amount to. Times are ms since the Unix epoch. */
export interface Execution extends ExecutionKey {
  state: ExecutionState;
  firstEventAt: number;
  lastEventAt: number;
  /** The first START, ERROR and END, where there is one. */
  startedAt: number | null;
  failedAt: number | null;
  endedAt: number | null;
  /** Events recorded, by kind. */
  counts: Record<EventKind, number>;
  /** Anomalies of the order of events. None of them changes the state. */
  startMissing: boolean;
  startRepeated: boolean;
  startLate: boolean;
  eventAfterEnd: boolean;
}

/**
 * The executions that a set of events makes, by key. The order of the events does not matter, and
 * an event that occurs more than once (same id) counts once: the result is a function of the set
 * (docs/design/outcomes.md). Production never calls this: `internal/store` says the same in
 * SQL, and this is the oracle that a property test (and the audit of the fault tests) holds the SQL
 * to.
 */
export function executionsOf(events: Iterable<AcceptedEvent>): Map<string, Execution> {
  const unique = new Map([...events].map((event) => [event.id, event]));
  const grouped = Map.groupBy(unique.values(), (event) => keyText(keyOf(event)));
  return new Map([...grouped].map(([key, group]) => [key, executionOf(group)]));
}

/** A text that is equal for equal keys, and only for those. */
export function keyText(key: ExecutionKey): string {
  return JSON.stringify([key.organization, key.automationId, key.executionId]);
}

function keyOf(event: AcceptedEvent): ExecutionKey {
  return {
    organization: event.organization,
    automationId: event.automationId.toLowerCase(),
    executionId: event.executionId,
  };
}

function executionOf(events: AcceptedEvent[]): Execution {
  const [first] = events;
  if (first === undefined) throw new Error('an execution has at least one event');
  const counts = countByKind(events);
  const times = events.map(timeOf);
  const firstEventAt = Math.min(...times);
  const lastEventAt = Math.max(...times);
  const startedAt = firstOf(events, 'START');
  const endedAt = firstOf(events, 'END');
  return {
    ...keyOf(first),
    counts,
    state: stateOf(counts),
    firstEventAt,
    lastEventAt,
    startedAt,
    failedAt: firstOf(events, 'ERROR'),
    endedAt,
    startMissing: counts.START === 0,
    startRepeated: counts.START > 1,
    startLate: startedAt !== null && startedAt > firstEventAt,
    eventAfterEnd: endedAt !== null && lastEventAt > endedAt,
  };
}

/**
 * `failed` once any ERROR is recorded, whenever it came; else `succeeded` once END is; else
 * `running`.
 */
function stateOf(counts: Execution['counts']): ExecutionState {
  if (counts.ERROR > 0) return 'failed';
  return counts.END > 0 ? 'succeeded' : 'running';
}

function countByKind(events: AcceptedEvent[]): Execution['counts'] {
  const counts = { START: 0, EVENT: 0, WARNING: 0, ERROR: 0, END: 0 } satisfies Execution['counts'];
  for (const event of events) counts[event.kind] += 1;
  return counts;
}

function firstOf(events: AcceptedEvent[], kind: EventKind): number | null {
  const times = events.filter((event) => event.kind === kind).map(timeOf);
  return times.length === 0 ? null : Math.min(...times);
}

/** When the event happened: as its caller says, otherwise when it was accepted. */
function timeOf({ occurredAt, createdAt }: AcceptedEvent): number {
  return occurredAt ?? createdAt;
}
