import { readFile } from 'node:fs/promises';
import { commands } from '../../cmd/admin/commands.ts';
import { usageOf } from '../../cmd/admin/help.ts';
import { settings } from '../../internal/config/settings.ts';
import { compactTable } from './api-page.ts';

/**
 * The help of `runledger`, as it prints it, and each command of `runledger-admin` by its
 * declaration: usage, options, notes and settings.
 */
export async function commandTables(): Promise<string> {
  const help = await readFile('cmd/runledger/help.txt', 'utf8');
  const others = `## runledger-admin\n\n${adminCommands()}`;
  return `## runledger\n\n\`\`\`text\n${help.trim()}\n\`\`\`\n\n${others}`;
}

function adminCommands(): string {
  const sections = Object.entries(commands).map(([name, { declaration }]) => {
    const { summary, options, settings: read, notes } = declaration;
    const known = read.filter((setting) => setting in settings).map((setting) => `\`${setting}\``);
    const rows = Object.entries(options).map(([option, spec]) => [
      `\`--${option}${'value' in spec ? ` ${spec.value}` : ''}${'multiple' in spec ? ' …' : ''}\``,
      spec.text.replaceAll('|', '\\|'),
    ]);
    const parts = [
      `### ${name}`,
      summary,
      `\`\`\`text\n${usageOf(name, declaration).replace('Usage: ', '')}\n\`\`\``,
      ...(rows.length > 0 ? [compactTable(['Option', 'Meaning'], rows)] : []),
      ...(notes === undefined ? [] : [`<!-- prettier-ignore -->\n${wrapped(notes)}`]),
      ...(known.length > 0 ? [`<!-- prettier-ignore -->\n${wrapped(`It reads ${known.join(', ')}.`)}`] : []),
    ];
    return parts.join('\n\n');
  });
  return sections.join('\n\n');
}

/** Lines of paragraphs. */
function wrapped(text: string): string {
  return text
    .replaceAll(/(.{1,99})(?: |$)/gm, '$1\n')
    .replaceAll(/\n\n\n+/g, '\n\n')
    .trimEnd();
}
