import { compactTable } from './api-page.ts';
import { modes, tamperings, type Mode } from './tamperings.ts';

/** The arguments by which somebody checks. */
const checks: Record<Mode, string> = {
  live: '`verify`',
  kept: '`--checkpoint`',
  state: '`--state`',
  export: '`--log --export`',
  exportState: '`--log --export --state`',
  witness: '`--witness`',
};

/** Who could do what, which check finds it, and what it prints: a table of Markdown. */
export function tamperingsTable(): string {
  const rows = Object.entries(tamperings([])).map(([what, { who = 'The owner of Postgres', found }]) => {
    const by = modes.filter((mode) => found[mode] !== undefined).map((mode) => checks[mode]);
    const sentences = [...new Set(modes.flatMap((mode) => found[mode] ?? []))];
    return [who, what, by.join(', '), sentences.map(shown).join(' ')];
  });
  return compactTable(['Who', 'Does what', 'Found by', '`verify` prints'], rows);
}

function shown(sentence: string): string {
  return `“${sentence.replaceAll('{id}', 'ID').replaceAll('{n}', 'N').replaceAll('{…}', '…')}”`;
}
