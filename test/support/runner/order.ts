/**
 * Files that take longest. They begin first: one that began last would be waited for. Those of one
 * line share a `make run`, or what was read of all imports: one process runs them.
 */
const longest = [
  ['test/e2e/make-run.test.ts'],
  ['test/unit/checks.test.ts', 'test/unit/docs.test.ts'],
  ['test/integration/observability/alerts.test.ts'],
  ['test/e2e/console/accessibility.test.ts'],
  ['test/e2e/make-run-login.test.ts'],
  ['borgmatic', 'cloudevents', 'openlineage'].map((name) => `test/clients/${name}.test.ts`),
];

/** Files of 7 s and more that use a core for less than a quarter of that; the longest first. */
const waiting = [
  'test/integration/verdicts/processes.test.ts',
  'test/integration/queue/redis-cluster.test.ts',
  'test/integration/verdicts/ingest-clock.test.ts',
  'test/integration/queue/backlog-guard.test.ts',
  'test/integration/queue/redis-outage.test.ts',
  'test/integration/queue/shards.test.ts',
  'test/integration/read/database.test.ts',
  'test/integration/queue/sentinel.test.ts',
  'test/integration/worker/stop.test.ts',
  'test/integration/lifecycle/signals.test.ts',
  'test/integration/store/reachable.test.ts',
  'test/integration/queue/fetch-cooldown.test.ts',
  'test/integration/store/connections.test.ts',
  'test/integration/queue/queue-clock.test.ts',
  'test/integration/api/slow-clients.test.ts',
];

const alone = (files: readonly string[]): string[][] => files.map((file) => [file]);

/**
 * The files in the order in which a process takes them; those of one group run together. A process
 * that begins with the files that mostly wait may run beside as many others as there is work for.
 * Then it takes the rest from the end, where unit tests are, which do not mind that they share a
 * core.
 */
export function inOrder(files: readonly string[], waitingFirst: boolean): string[][] {
  const others = files.filter((file) => ![...longest.flat(), ...waiting].includes(file));
  const groups = waitingFirst
    ? alone([...waiting, ...others.toReversed()])
    : [...longest, ...alone([...others, ...waiting])];
  return groups.map((group) => group.filter((file) => files.includes(file))).filter(({ length }) => length > 0);
}
