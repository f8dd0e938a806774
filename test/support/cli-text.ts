import { readFile } from 'node:fs/promises';
import { commands } from '../../cmd/admin/commands.ts';
import { helpOf, helpOfAll } from '../../cmd/admin/help.ts';

/** What `runledger` and each command of `runledger-admin` print with `--help`. */
export async function cliText(): Promise<string> {
  const declared = Object.entries(commands).map(([name, { declaration }]) => [name, declaration] as const);
  const helps = [
    await readFile('cmd/runledger/help.txt', 'utf8'),
    helpOfAll(declared.map(([name, { summary }]) => [name, summary])),
    ...declared.map(([name, declaration]) => helpOf(name, declaration)),
  ];
  return helps.map((help) => help.trim()).join(`\n\n${'-'.repeat(100)}\n\n`) + '\n';
}
