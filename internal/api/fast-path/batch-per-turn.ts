/** Largest cohort, in items: more than there are requests at once as a rule. What many connections send in a flood is held no longer. */
const largest = 512;

/**
 * Does `work`, which must not throw, for all items of one turn of the event loop together, at its end, in the order they came. The
 * steps that follow (promises, ticks) are then taken for all items before the next step begins, while the processor still has
 * the step's code in its caches: cohort scheduling (Larus and Parkes, 2002). test/bench/README.md says what it saves.
 */
export function batchPerTurn<Item>(work: (item: Item) => void): (item: Item) => void {
  let cohort: Item[] = [];
  const workAll = (): void => {
    const items = cohort;
    cohort = [];
    for (const item of items) work(item);
  };
  return (item) => {
    const size = cohort.push(item);
    if (size === 1) setImmediate(workAll);
    else if (size === largest) workAll();
  };
}
