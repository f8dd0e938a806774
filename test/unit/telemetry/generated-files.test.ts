import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { generatedFiles } from '../../support/docs.ts';

describe('files that are made', () => {
  for (const { file, make } of generatedFiles) {
    it(`${file} is up to date (make docs)`, async () => {
      expect(await readFile(new URL(`../../../${file}`, import.meta.url), 'utf8')).to.equal(await make());
    });
  }
});
