import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/** Each command line of the page, by its title, and the arguments of Node that print its help. */
const commandLines: readonly (readonly [title: string, args: readonly string[]])[] = [
  ...['token', 'export', 'erase', 'seal', 'verify'].map((name) => [name, [`cmd/${name}/main.ts`, '--help']] as const),
];

/** The help of each command, as it prints it. */
export async function commandHelp(): Promise<string> {
  const sections = await Promise.all(
    commandLines.map(async ([title, args]) => {
      const { stdout, stderr } = await promisify(execFile)(process.execPath, args);
      return sectionOf(title, stdout || stderr);
    }),
  );
  // As `runledger help` prints it, which is in Go.
  const help = await readFile('cmd/runledger/help.txt', 'utf8');
  return [sectionOf('runledger', help), ...sections].join('\n\n');
}

function sectionOf(title: string, help: string): string {
  return `## ${title}\n\n\`\`\`text\n${help.trim()}\n\`\`\``;
}
