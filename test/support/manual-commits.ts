import { setImmediate as turn } from 'node:timers/promises';
import type { AcceptedEvent } from '../../internal/event/event.ts';
import { GroupCommit, type Callers, type GroupCommitLimits } from '../../internal/queue/group-commit.ts';
import { anEvent } from './events.ts';

/** Limits that a test of something else does not reach. */
const roomy: GroupCommitLimits = {
  batchEvents: 100,
  batchBytes: 1e6,
  commitsInFlight: 1,
  bufferedEvents: 1_000,
  bufferedBytes: 1e6,
  intervalMs: 0,
  answerWithinMs: 10_000,
};

/** Somebody may always send one more event. */
const manyCallers: Callers = { open: Infinity, opened: 0 };

/** A group commit whose commits the test ends by hand, in the order they began. */
export function manualCommits(limits: Partial<GroupCommitLimits> = {}, callers = manyCallers) {
  const batches: { events: AcceptedEvent[]; end: PromiseWithResolvers<void> }[] = [];
  const commit = (events: AcceptedEvent[]): Promise<void> => {
    const end = Promise.withResolvers<void>();
    batches.push({ events, end });
    return end.promise;
  };
  const group = new GroupCommit(commit, { ...roomy, ...limits }, callers);
  return {
    group,
    batches,
    /** Events per commit begun. */
    sizes: (): number[] => batches.map(({ events }) => events.length),
    /** Adds an event with a text of that length. */
    add: (length = 0): Promise<void> => group.add([anEvent({ description: 'x'.repeat(length) })]),
    /** Ends a commit, and lets the next one begin. */
    end: async (index: number): Promise<void> => {
      batches[index]?.end.resolve();
      await turn();
      await turn();
    },
  };
}
