import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { repository } from '../helm.ts';

/** The command of the README that installs a release. */
export async function installation(): Promise<string> {
  const readme = await readFile(join(repository, 'README.md'), 'utf8');
  const [, command = ''] = /```sh\n(helm install runledger [^`]*)```/.exec(readme) ?? [];
  return command.trim();
}

/** The commands that the notes of a release print, step by step. */
export function stepsOf(notes: string): string[] {
  const steps = notes.split(/^\d\. /m).slice(1);
  return steps.map((step) => [...step.matchAll(/^ {3}(.*)$/gm)].map(([, line]) => line).join('\n'));
}
