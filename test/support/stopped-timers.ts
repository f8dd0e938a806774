import { mock } from 'node:test';

/**
 * Runs `work` while the timers of `setTimeout` stand still: they fire only as far as `tick` (ms) moves them. A real timer may
 * fire early by as long as the turn that set it took, so an interval cannot be told exactly by the clock.
 */
export async function withStoppedTimers(work: (tick: (ms: number) => void) => Promise<void>): Promise<void> {
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    await work((ms) => mock.timers.tick(ms));
  } finally {
    mock.timers.reset();
  }
}
