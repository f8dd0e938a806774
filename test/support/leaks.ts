import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

/** What keeps a process alive and a test can leave behind, by Node's name for it. */
const watched = new Set([
  'Timeout',
  'Immediate',
  'TCPSocketWrap',
  'TCPServerWrap',
  'TLSWrap',
  'PipeWrap',
  'ProcessWrap',
  'FSEvent',
  'StatWatcher',
  'Worker',
  'MessagePort',
]);

/** Longest that what a test has closed may take to be gone, in ms. */
const grace = 10_000;

/** How often the leftovers of a suite are counted before its first test. */
const looks = 3;

/** What each suite keeps for all of its tests: the most that was seen before any of them. */
const kept = new Map<Mocha.Suite | undefined, Map<string, number>>();

/**
 * Fails each test that leaves a process, a connection or a timer behind. A test that has failed
 * could not close what it had opened: the next tests still run.
 */
export const mochaHooks = {
  async beforeEach(this: Mocha.Context): Promise<void> {
    const suite = this.currentTest?.parent;
    // Mocha's own timer of a hook runs from the next turn on, in both hooks.
    await nextTurn();
    // A loop that a suite keeps running has no timer while it works. Look again before the first
    // test.
    if (!kept.has(suite)) {
      for (let look = 0; look < looks; look += 1) {
        await sleep(10);
        // In the turn of a timer, Node still counts it.
        await nextTurn();
        keep(suite);
      }
    } else keep(suite);
  },
  async afterEach(this: Mocha.Context): Promise<void> {
    if (this.currentTest?.isFailed() === true) return;
    const before = kept.get(this.currentTest?.parent) ?? new Map<string, number>();
    const deadline = Date.now() + grace;
    await nextTurn();
    let left = leftovers(before);
    while (left.length > 0 && Date.now() < deadline) {
      await sleep(10);
      left = leftovers(before);
    }
    if (left.length > 0) throw new Error(`the test left behind: ${left.join(', ')}`);
  },
};

function keep(suite: Mocha.Suite | undefined): void {
  const most = kept.get(suite) ?? new Map<string, number>();
  for (const [name, count] of resources()) most.set(name, Math.max(count, most.get(name) ?? 0));
  kept.set(suite, most);
}

function resources(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of process.getActiveResourcesInfo()) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

function leftovers(before: ReadonlyMap<string, number>): string[] {
  const now = resources();
  return [...watched]
    .map((name) => ({ name, more: (now.get(name) ?? 0) - (before.get(name) ?? 0) }))
    .filter(({ more }) => more > 0)
    .map(({ name, more }) => `${more} × ${name}`);
}
