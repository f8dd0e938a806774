import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { join } from 'node:path';

/** What one process of a tier runs, beside the others. */
export interface Lane {
  files: readonly string[];
  /** Begins with the files that mostly wait. */
  waitingFirst: boolean;
}

const isGlob = (pattern: string): boolean => pattern.includes('*');

/**
 * Reads lanes: names of files and globs, with spaces between them, and `--waiting` for a lane that
 * begins with the files that mostly wait. A glob leaves out the files that any lane names; lanes
 * with the same glob share its files.
 */
export function readLanes(texts: readonly string[]): Lane[] {
  const words = texts.map((text) => text.split(' ').filter((word) => word !== ''));
  const named = new Set(words.flat().filter((word) => !isGlob(word)));
  const expand = (pattern: string): string[] =>
    isGlob(pattern)
      ? globSync(pattern)
          .filter((file) => !named.has(file))
          .sort()
      : [pattern];
  return words.map((all) => ({
    files: all.filter((word) => word !== '--waiting').flatMap(expand),
    waitingFirst: all.includes('--waiting'),
  }));
}

/** Processes of tests that have not ended. */
const running = new Set<ReturnType<typeof spawn>>();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    for (const child of running) child.kill('SIGTERM');
    process.exit(130);
  });
}

/**
 * Runs the files of a lane in one process, whose output goes to a file descriptor. Resolves with
 * its number and how it ended: `exit status 0` also after failed tests. A process that says nothing
 * for `silenceMs` is killed: a loop without end would hold up all tiers.
 */
export async function runProcess(
  lane: Lane,
  options: { notes: string; config: string; output: number | 'inherit'; silenceMs: number },
): Promise<{ pid: number; end: string }> {
  const { notes, config, output, silenceMs } = options;
  const waiting = lane.waitingFirst ? ['--waiting'] : [];
  const args = [join(import.meta.dirname, 'run-files.ts'), '--notes', notes, '--config', config, ...waiting];
  const child = spawn(process.execPath, [...args, ...lane.files], { stdio: ['ignore', output, output, 'ipc'] });
  running.add(child);
  const silence = setTimeout(() => child.kill('SIGKILL'), silenceMs);
  child.on('message', () => silence.refresh());
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  clearTimeout(silence);
  running.delete(child);
  return { pid: child.pid ?? 0, end: signal ?? `exit status ${code}` };
}
