import { mock } from 'node:test';

/**
 * Stops the timers of `setTimeout` in each test of the suite it is called in: they fire
 * only as far as what it returns moves them (ms). A real timer may fire early by as long as the
 * turn that set it took, so an interval cannot be told exactly by the clock.
 */
export function stopTimers(): (ms: number) => void {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
  afterEach(() => mock.timers.reset());
  return (ms) => mock.timers.tick(ms);
}
