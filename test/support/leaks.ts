import { setTimeout as sleep } from 'node:timers/promises';

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
const grace = 2_000;

let before: Map<string, number>;

/** Fails each test that leaves a process, a connection or a timer behind. */
export const mochaHooks = {
  // async as the other hook: mocha holds a timer of its own during both.
  async beforeEach(): Promise<void> {
    await Promise.resolve();
    before = resources();
  },
  async afterEach(): Promise<void> {
    const deadline = Date.now() + grace;
    let left = leftovers();
    while (left.length > 0 && Date.now() < deadline) {
      await sleep(10);
      left = leftovers();
    }
    if (left.length > 0) throw new Error(`the test left behind: ${left.join(', ')}`);
  },
};

function resources(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of process.getActiveResourcesInfo()) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

function leftovers(): string[] {
  const now = resources();
  return [...watched]
    .map((name) => ({ name, more: (now.get(name) ?? 0) - (before.get(name) ?? 0) }))
    .filter(({ more }) => more > 0)
    .map(({ name, more }) => `${more} × ${name}`);
}
