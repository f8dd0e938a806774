import { readFile, writeFile } from 'node:fs/promises';
import { settingsTable } from './settings-table.ts';

/** Parts of documents that are made from the code: between two comments that name them. */
export const generatedParts = [{ file: 'README.md', part: 'settings', make: settingsTable }];

/** A document with one part replaced by what it should be. @throws when the document has no such part. */
export function withPart(document: string, part: string, content: string): string {
  const [begin, end] = [`<!-- ${part}: made by \`make docs\` -->`, `<!-- end of ${part} -->`];
  const from = document.indexOf(begin);
  const to = document.indexOf(end);
  if (from === -1 || to === -1) throw new Error(`there is no part ${part}`);
  return `${document.slice(0, from + begin.length)}\n\n${content}\n\n${document.slice(to)}`;
}

if (import.meta.main) {
  for (const { file, part, make } of generatedParts) {
    const document = await readFile(file, 'utf8');
    await writeFile(file, withPart(document, part, make()));
  }
}
