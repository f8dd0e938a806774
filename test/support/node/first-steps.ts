import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../free-port.ts';
import { repository } from '../helm.ts';

/** The command of the README that installs a release, with a chart of this machine. */
export async function installation(chart: string): Promise<string> {
  const readme = await readFile(join(repository, 'README.md'), 'utf8');
  const [, command = ''] = /```sh cluster\n(helm install runledger [^`]*)```/.exec(readme) ?? [];
  return command.trim().replace(/oci:\S+ --version \S+/, chart);
}

/**
 * The commands that the notes of a release print, step by step, with free ports of this machine in
 * place of 8443 and 8444.
 */
export async function stepsOf(notes: string): Promise<string[]> {
  const [ingest, console] = [await freePort(), await freePort()];
  const free = notes.replaceAll('8443', `${ingest}`).replaceAll('8444', `${console}`);
  const steps = free.split(/^\d\. /m).slice(1);
  return steps.map((step) => [...step.matchAll(/^ {3}(.*)$/gm)].map(([, line]) => line).join('\n'));
}
