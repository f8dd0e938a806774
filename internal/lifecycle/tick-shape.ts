import { executionAsyncResource } from 'node:async_hooks';

/**
 * Keeps one of the objects that Node makes for each `process.nextTick`, until it is disposed. When none is left, a full garbage
 * collection frees their shape; V8 then takes the next ones for something new, and makes them in its slowest way for
 * good: 340 to 550 ns instead of 40, five times an event (test/bench/README.md).
 */
export function keepTickShape(): Promise<Disposable> {
  return new Promise((resolve) => {
    process.nextTick(() => {
      const kept = new DisposableStack();
      kept.adopt(executionAsyncResource(), () => undefined);
      resolve(kept);
    });
  });
}
