import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import Mocha from 'mocha';
import { Notes, type Counts } from './notes.ts';
import { inOrder } from './order.ts';

/**
 * One process of a tier: runs test files, one after the other. It takes the next one that no other
 * process has taken, so that all end at about the same time, and notes how each ended.
 *   run-files.ts --notes FOLDER --config MOCHARC [--waiting] FILE...
 * With `--waiting` it begins with the files that mostly wait. Exits with 0 also after a failed
 * test: any other status is a crash.
 */
const { values, positionals } = parseArgs({
  options: {
    notes: { type: 'string', default: '' },
    config: { type: 'string', default: '' },
    waiting: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});

interface Config {
  require?: string[];
  timeout: number;
  slow: number;
}

/** What mocha takes from the modules that its `--require` names. */
interface Required {
  mochaGlobalSetup?: () => Promise<void>;
  mochaGlobalTeardown?: () => Promise<void>;
  mochaHooks?: Mocha.RootHookObject;
}

const notes = new Notes(values.notes);
const config = JSON.parse(await readFile(values.config, 'utf8')) as Config;
const importFile = (path: string): Promise<Required> => import(pathToFileURL(resolve(path)).href) as Promise<Required>;
const required = await Promise.all((config.require ?? []).map(importFile));

/** How the files of the current group do. */
let counts = new Map<string, Counts>();

/** Counts by file. Shows what failed at the end of its group. */
class FileReporter extends Mocha.reporters.Spec {
  constructor(runner: Mocha.Runner, options?: Mocha.MochaOptions) {
    super(runner, options);
    for (const [event, count] of [
      ['pass', 'passing'],
      ['pending', 'pending'],
      ['fail', 'failing'],
    ] as const)
      runner.on(event, (test: Mocha.Runnable) => countOf(test)[count]++);
  }

  override epilogue(): void {
    if (this.failures.length > 0) Mocha.reporters.Base.list(this.failures);
  }
}

/** A hook outside every suite has no file: the first of its group answers for it. */
function countOf({ file }: Mocha.Runnable): Counts {
  const found = counts.get(file ?? '') ?? [...counts.values()][0];
  if (found === undefined) throw new Error('a test ran that is in no file');
  return found;
}

async function runGroup(files: readonly string[]): Promise<void> {
  const { timeout, slow } = config;
  const rootHooks = Object.assign({}, ...required.map(({ mochaHooks }) => mochaHooks)) as Mocha.RootHookObject;
  const mocha = new Mocha({ timeout, slow, reporter: FileReporter, rootHooks });
  counts = new Map(files.map((file) => [resolve(file), { passing: 0, pending: 0, failing: 0 }]));
  for (const file of files) mocha.addFile(resolve(file));
  await mocha.loadFilesAsync();
  const begun = performance.now();
  await new Promise((ended) => mocha.run(ended));
  console.log(`  ${files.join(', ')}: ${((performance.now() - begun) / 1_000).toFixed(1)} s`);
}

// Says that its turns go on. Neither the timer nor the channel is left behind by a test.
setInterval(() => process.send?.('alive'), 1_000).unref();
process.channel?.unref();

for (const { mochaGlobalSetup } of required) await mochaGlobalSetup?.();
for (const group of inOrder(positionals, values.waiting)) {
  if (!(await notes.take(group))) continue;
  await runGroup(group);
  for (const file of group) {
    const ended = counts.get(resolve(file));
    if (ended !== undefined) await notes.end(file, process.pid, ended);
  }
}
for (const { mochaGlobalTeardown } of required) await mochaGlobalTeardown?.();
process.exit(0);
