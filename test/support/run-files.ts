import { globSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import Mocha from 'mocha';
import { mochaHooks } from './leaks.ts';
import { mochaGlobalSetup, mochaGlobalTeardown } from './servers.ts';

/**
 * Runs test files, one after the other. Processes that `at-once.sh` has started share the files:
 * each takes the next one that no other has taken, so that all end at about the same time.
 *   run-files.ts [--waiting] PATTERN...
 * With `--waiting` a process begins with the files that mostly wait: it may run beside as many
 * others as there is work for. Then it takes the others from the end, where unit tests are, which
 * do not mind that they share a core.
 */
const { values, positionals } = parseArgs({ options: { waiting: { type: 'boolean' } }, allowPositionals: true });

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
  'test/integration/exec/examples.test.ts',
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

const all = globSync(positionals).sort();
if (all.length === 0) throw new Error('no test file matches');
const others = all.filter((file) => ![...longest.flat(), ...waiting].includes(file));
const alone = (files: readonly string[]): string[][] => files.map((file) => [file]);
const groups = values.waiting
  ? alone([...waiting, ...others.toReversed()])
  : [...longest, ...alone([...others, ...waiting])];

const totals = { passing: 0, pending: 0, failing: 0 };

/** Counts what passed in all files. Shows what failed at the end of its file. */
class FileReporter extends Mocha.reporters.Spec {
  override epilogue(): void {
    totals.passing += this.stats.passes;
    totals.pending += this.stats.pending;
    totals.failing += this.stats.failures;
    if (this.failures.length > 0) Mocha.reporters.Base.list(this.failures);
  }
}

/** Resolves with false when another process has taken the file. */
async function take(file: string): Promise<boolean> {
  try {
    await writeFile(join(folder, file.replaceAll('/', '+')), '', { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function runFiles(files: readonly string[]): Promise<void> {
  const mocha = new Mocha({ timeout: 60_000, slow: 2_000, reporter: FileReporter, rootHooks: mochaHooks });
  for (const file of files) mocha.addFile(file);
  await mocha.loadFilesAsync();
  const begun = performance.now();
  await new Promise((resolve) => mocha.run(resolve));
  console.log(`  ${files.join(', ')}: ${((performance.now() - begun) / 1_000).toFixed(1)} s`);
}

const shared = process.env['AT_ONCE_FOLDER'];
const folder = shared ?? (await mkdtemp(join(tmpdir(), 'runledger-tests-')));
await mochaGlobalSetup();
for (const group of groups) {
  const files = group.filter((file) => all.includes(file));
  const [first] = files;
  if (first !== undefined && (await take(first))) await runFiles(files);
}
await mochaGlobalTeardown();
if (shared === undefined) await rm(folder, { recursive: true });
for (const [what, count] of Object.entries(totals)) if (count > 0) console.log(`  ${count} ${what}`);
process.exit(totals.failing > 0 ? 1 : 0);
