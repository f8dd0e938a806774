import { tamperings, type Tampering } from './tamperings.ts';

/**
 * Which checks find something: with Postgres and with an export, with one of them, or with what was
 * kept.
 */
const checks = {
  'With Postgres, and with an export': ({ live, export: exported }) => live !== undefined && exported !== undefined,
  'With Postgres only': ({ live, export: exported }) => live !== undefined && exported === undefined,
  'With --state or --checkpoint only': ({ live }) => live === undefined,
} as const satisfies Record<string, (found: Tampering['found']) => boolean>;

/** What the owner of Postgres could do, by the check that finds it. */
export function tamperingsText(): string {
  const all = Object.entries(tamperings([]));
  const lists = Object.entries(checks).map(([check, isIn]) => {
    const items = all.filter(([, { found }]) => isIn(found));
    return [`${check}:\n`, ...items.map(([what, { who }]) => item(who === undefined ? what : `${what} (${who})`))];
  });
  return `${lists.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

/** An item of a list, in lines that end by column 100. */
function item(text: string): string {
  return `- ${text}`.replaceAll(/(.{1,98})(?: |$)/g, '$1\n  ').trimEnd();
}
