import { closeSync, openSync, readFileSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { seedOfRun } from '../fault/random.ts';
import { readLanes, runProcess, type Lane } from './lane.ts';
import { Notes, type Counts } from './notes.ts';
import { inOrder } from './order.ts';

/**
 * Runs a tier of tests: lanes side by side, each a process, since most tests wait. A file with a
 * failed test, or whose process dies, runs once more: alone, after all others. If it passes then,
 * it is flaky and counts as passed. More than three flaky files fail the tier.
 *   run-tier.ts [--config MOCHARC] [--first LANE] [--silence SECONDS] -- LANE...
 * A lane is a list of files and globs, as `readLanes` reads it. The first prints as it goes, the
 * others once they have ended. The lane of `--first` runs alone, before all others. A process whose
 * event loop stands still for as long as `--silence` says (5 minutes) is killed.
 */
const { values, positionals } = parseArgs({
  options: {
    config: { type: 'string', default: '.mocharc.json' },
    first: { type: 'string' },
    silence: { type: 'string', default: '300' },
  },
  allowPositionals: true,
});

/** Flaky files that a run may have. */
const mostFlaky = 3;

const silenceMs = Number(values.silence) * 1_000;

/** Files that run once more: with more, something else is wrong, and it would take too long. */
const mostReruns = 8;

// What a seed has drawn, it draws again: a fault that was found is not hidden by another selection.
process.env['SEED'] ??= String(seedOfRun());

const folder = await mkdtemp(join(tmpdir(), 'runledger-tests-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const notesFolder = await mkdtemp(join(folder, 'notes-'));
const notes = new Notes(notesFolder);
const alone = values.first === undefined ? [] : [values.first];
const lanes = readLanes([...alone, ...positionals]);
const files = [...new Set(lanes.flatMap((lane) => lane.files))];
if (files.length === 0) throw new Error('no test file matches');

/** A file whose process died while it ran, or that no process could begin. */
const died: Counts = { passing: 0, pending: 0, failing: 1 };

const flaky: string[] = [];

const hasEnded = async (file: string): Promise<boolean> => (await notes.read(file))?.counts !== undefined;

/** The files that a process took, in the order in which it ran them. */
async function takenBy(pid: number, lane: Lane): Promise<string[]> {
  const ordered = inOrder(lane.files, lane.waitingFirst).flat();
  const taken = await Promise.all(ordered.map((file) => notes.read(file)));
  return ordered.filter((_, index) => taken[index]?.pid === pid);
}

/** Runs a lane to its end, in another process for the rest of its files when one dies. */
async function runLane(lane: Lane, output: number | 'inherit'): Promise<void> {
  for (;;) {
    const { pid, end } = await runProcess(lane, { notes: notesFolder, config: values.config, output, silenceMs });
    const taken = await takenBy(pid, lane);
    const last = taken.at(-1);
    if (end === 'exit status 0' && (last === undefined || (await hasEnded(last)))) return;
    console.log(`\nA process of tests died: ${end}, ${last === undefined ? 'before its first file' : `in ${last}`}`);
    // Nothing shows that another one could begin. The files that no process takes count as failed.
    if (last === undefined) return void flaky.push(`the start of a process (${end})`);
    // After its end it left something behind.
    await notes.end(last, pid, died);
  }
}

async function runAtOnce([first, ...others]: readonly Lane[]): Promise<void> {
  if (first === undefined) return;
  const behind = others.map((lane, index) => {
    const log = join(folder, `${index}.log`);
    const output = openSync(log, 'w');
    return { log, ended: runLane(lane, output).finally(() => closeSync(output)) };
  });
  await runLane(first, 'inherit');
  for (const { log, ended } of behind) {
    await ended;
    process.stdout.write(readFileSync(log));
  }
}

const countsOf = async (file: string): Promise<Counts> => (await notes.read(file))?.counts ?? died;

async function rerun(file: string): Promise<void> {
  console.log(`\nOnce more, alone: ${file}`);
  await notes.forget(file);
  await runLane({ files: [file], waitingFirst: false }, 'inherit');
  if ((await countsOf(file)).failing === 0) flaky.push(file);
}

await runAtOnce(lanes.slice(0, alone.length));
await runAtOnce(lanes.slice(alone.length));
const failed = [];
for (const file of files) if ((await countsOf(file)).failing > 0) failed.push(file);
for (const file of failed.slice(0, mostReruns)) await rerun(file);

const totals: Counts = { passing: 0, pending: 0, failing: 0 };
for (const file of files) {
  const counts = await countsOf(file);
  for (const count of ['passing', 'pending', 'failing'] as const) totals[count] += counts[count];
}
console.log('');
for (const [what, count] of Object.entries(totals)) if (count > 0) console.log(`  ${count} ${what}`);
for (const what of flaky) console.log(`  flaky: ${what}`);
process.exit(totals.failing > 0 || flaky.length > mostFlaky ? 1 : 0);
