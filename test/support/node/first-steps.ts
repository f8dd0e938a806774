import { clusterCommands } from '../document-blocks.ts';
import { freePort } from '../free-port.ts';

/** The command of the README that installs a release, with a chart of this machine. */
export function installation(chart: string): string {
  return clusterCommands('README.md')
    .trim()
    .replace(/oci:\S+ --version \S+/, chart);
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
