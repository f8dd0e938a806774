import { compactTable } from './compact-table.ts';
import { modes, tamperings, type Tampering } from './tamperings.ts';

/**
 * Which checks find something: with Postgres and with an export, with one of them, or with what was
 * kept.
 */
const columns = {
  'With Postgres, and with an export': ({ live, export: exported }) => live !== undefined && exported !== undefined,
  'With Postgres only': ({ live, export: exported }) => live !== undefined && exported === undefined,
  'With what you kept, or a witness': ({ live }) => live === undefined,
} as const satisfies Record<string, (found: Tampering['found']) => boolean>;

/**
 * What the owner of Postgres could do, which check finds it, and what that prints: a table of
 * Markdown. What several things give in common is said once, and each thing with its first
 * sentence.
 */
export function tamperingsTable(): string {
  const bySentence = Map.groupBy(Object.entries(tamperings([])), ([, { found }]) => sentencesOf(found)[0] ?? '');
  const rows = Array.from(bySentence, ([sentence, alike]) => [
    shown(sentence),
    ...Object.values(columns).map((isIn) =>
      alike
        .filter(([, { found }]) => isIn(found))
        .map(([what, { who }]) => what + (who === undefined ? '' : ` (${who})`))
        .join('; '),
    ),
  ]);
  return compactTable(['`verify` prints', ...Object.keys(columns)], rows);
}

function sentencesOf(found: Tampering['found']): string[] {
  return modes.flatMap((mode) => found[mode] ?? []);
}

function shown(sentence: string): string {
  return sentence.replaceAll('{id}', 'ID').replaceAll('{n}', 'N').replaceAll('{…}', '…');
}
