/**
 * Largest batch, in items. A full batch starts immediately, so that a flood of requests cannot fill
 * the memory.
 */
const largest = 512;

/**
 * Collects the items of one event-loop turn and runs `work` for each at its end, in order of
 * arrival. `work` must not throw. Each step then runs for all items while the processor's caches
 * hold its code (Larus and Parkes, USENIX 2002). test/bench/README.md has the gain.
 */
export function batchPerTurn<Item>(work: (item: Item) => void): (item: Item) => void {
  let batch: Item[] = [];
  const workAll = (): void => {
    const items = batch;
    batch = [];
    for (const item of items) work(item);
  };
  return (item) => {
    const size = batch.push(item);
    if (size === 1) setImmediate(workAll);
    else if (size === largest) workAll();
  };
}
