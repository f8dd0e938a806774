import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { commands } from '../../cmd/admin/commands.ts';

/** The help of each command, as it prints it. */
export async function commandHelp(): Promise<string> {
  const sections = await Promise.all(
    Object.keys(commands).map(async (name) => {
      const { stdout } = await promisify(execFile)(process.execPath, ['cmd/admin/main.ts', ...name.split(' '), '--help']);
      return sectionOf(`runledger-admin ${name}`, stdout);
    }),
  );
  // As `runledger help` prints it, which is in Go.
  const help = await readFile('cmd/runledger/help.txt', 'utf8');
  return [sectionOf('runledger', help), ...sections].join('\n\n');
}

function sectionOf(title: string, help: string): string {
  return `## ${title}\n\n\`\`\`text\n${help.trim()}\n\`\`\``;
}
