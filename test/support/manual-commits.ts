import type { AcceptedEvent } from '../../internal/event/event.ts';
import type { Callers, GroupCommitLimits } from '../../internal/queue/group-commit.ts';

/** Limits of a group commit that a test of something else does not reach. */
export const roomy: GroupCommitLimits = {
  batchEvents: 100,
  batchBytes: 1e6,
  commitsInFlight: 1,
  bufferedEvents: 1_000,
  bufferedBytes: 1e6,
  intervalMs: 0,
  answerWithinMs: 10_000,
};

/** Somebody may always send one more event. */
export const manyCallers: Callers = { open: Infinity, opened: 0 };

/** Commits that the test ends by hand, in the order they began. */
export function manualCommits() {
  const batches: { events: AcceptedEvent[]; end: PromiseWithResolvers<void> }[] = [];
  const commit = (events: AcceptedEvent[]): Promise<void> => {
    const end = Promise.withResolvers<void>();
    batches.push({ events, end });
    return end.promise;
  };
  const sizes = (): number[] => batches.map(({ events }) => events.length);
  return { commit, batches, sizes };
}
