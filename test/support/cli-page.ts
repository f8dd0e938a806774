import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Each command line of the page, by its title, and the arguments of Node that print its help. */
const commandLines: readonly (readonly [title: string, args: readonly string[]])[] = [
  ['runledger', ['cmd/exec/main.js', 'help']],
  ...['token', 'export', 'erase', 'seal', 'verify'].map((name) => [name, [`cmd/${name}/main.ts`, '--help']] as const),
];

/** The help of each command, as it prints it. */
export async function commandHelp(): Promise<string> {
  const sections = await Promise.all(
    commandLines.map(async ([title, args]) => {
      const { stdout, stderr } = await promisify(execFile)(process.execPath, args);
      return `## ${title}\n\n\`\`\`text\n${(stdout || stderr).trim()}\n\`\`\``;
    }),
  );
  return sections.join('\n\n');
}
