import { glob, readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { requestFields } from '../../internal/event/schema.ts';
import { settings } from '../../internal/config/settings.ts';
import { generatedFiles, generatedParts, withPart } from '../support/docs.ts';

describe('documents', () => {
  for (const { file, part, make } of generatedParts) {
    it(`${file} has an up-to-date part ${part} (make docs)`, async () => {
      const document = await readFile(new URL(`../../${file}`, import.meta.url), 'utf8');
      // Formatting pads the cells of a table; only their text counts.
      const flat = (text: string): string => text.replaceAll(/ +/g, ' ').replaceAll(/-{3,}/g, '---');
      expect(flat(document)).to.equal(flat(withPart(document, part, await make())));
    });
  }

  for (const { file, make } of generatedFiles) {
    it(`${file} is up to date (make docs)`, async () => {
      expect(await readFile(new URL(`../../${file}`, import.meta.url), 'utf8')).to.equal(await make());
    });
  }

  it('the table of the contract has each field of a request', async () => {
    const root = new URL('../../', import.meta.url);
    const pages = ['README.md', 'ARCHITECTURE.md'];
    for await (const page of glob('docs/**/*.md', { cwd: root })) pages.push(page);
    const texts = await Promise.all(pages.map((page) => readFile(new URL(page, root), 'utf8')));
    const missing = [...requestFields].filter((name) => !texts.some((text) => text.includes(`\n| \`${name}\` `)));
    expect(missing).to.deep.equal([]);
  });

  it('every setting says what it means', () => {
    const silent = Object.entries(settings).filter(([, { desc }]) => desc === undefined);
    expect(silent).to.deep.equal([]);
  });
});
