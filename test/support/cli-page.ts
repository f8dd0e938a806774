import { commands } from '../../cmd/admin/commands.ts';
import { usageOf } from '../../cmd/admin/help.ts';
import { settings } from '../../internal/config/settings.ts';
import { compactTable } from './api-page.ts';

/** Each command of `runledger-admin` by its declaration: usage, options, notes and settings. */
export function commandTables(): string {
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
