import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { expect } from 'chai';
import { requestFields } from '../../internal/event/schema.ts';
import { settings } from '../../internal/config/settings.ts';
import { documentBlocks, marks, runbooksWithCommands, runnablePages } from '../support/document-blocks.ts';
import { metricNames } from '../support/metrics-text.ts';
import { generatedFiles, generatedParts, withPart } from '../support/docs.ts';

const root = new URL('../..', import.meta.url).pathname;

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

  it('have no shell block that is neither run nor marked with a reason', () => {
    const unknown = documentBlocks().filter(
      ({ language, mark }) => language === 'sh' && mark !== '' && !(mark in marks),
    );
    expect(unknown).to.deep.equal([]);
    const pages = [...runnablePages().keys()];
    expect(pages).to.include.members([
      'README.md',
      'docs/start/first-run.md',
      'docs/report/events.md',
      'docs/read/api.md',
    ]);
  });

  it('have no shell block for a cluster that no test of one runs', () => {
    const tests = globSync('test/{node,cluster,support/node}/**/*.ts', { cwd: root });
    const calls = tests.flatMap((file) => [
      ...readFileSync(join(root, file), 'utf8').matchAll(/\bclusterCommands\('([^']+)'(?:, (\d))?\)/g),
    ]);
    const run = new Set(calls.map(([, page, place]) => (place === undefined ? page : `${page} ${place}`)));
    const inCluster = documentBlocks().filter(({ mark }) => mark === 'cluster');
    const left = [...Map.groupBy(inCluster, ({ file }) => file)].flatMap(([page, blocks]) => {
      const isRun = run.has(page) || runbooksWithCommands().some((alert) => page.endsWith(`/${alert}.md`));
      return isRun ? [] : blocks.map((_, place) => `${page} ${place}`).filter((block) => !run.has(block));
    });
    expect(left).to.deep.equal([]);
  });

  it('have only shell that a shell can read', () => {
    const shell = documentBlocks().filter(({ language, mark }) => language === 'sh' && mark !== '');
    for (const { file, content } of shell) {
      const filledIn = content.replaceAll(/<[\w ]+>/g, 'x');
      expect(() => execFileSync('bash', ['-n'], { input: filledIn, stdio: 'pipe' }), file).not.to.throw();
    }
  });

  it('have at most 330 kB in all, so that somebody can read them', () => {
    const files = globSync('**/*.md', {
      cwd: root,
      exclude: (name) => /^(node_modules|\.|generated)/.test(basename(name)),
    });
    const sizes = files.map((file) => readFileSync(join(root, file)).length);
    expect(sizes.reduce((sum, size) => sum + size, 0)).to.be.at.most(330_000);
  });

  it('have no longer entrance than a reader takes in', () => {
    const lines = (file: string): number => readFileSync(join(root, file), 'utf8').split('\n').length;
    expect(lines('README.md')).to.be.at.most(200);
    expect(lines('ARCHITECTURE.md')).to.be.at.most(350);
    expect(lines('CHANGELOG.md')).to.be.at.most(100);
  });

  it('the list of metrics has each one that the code makes', () => {
    const sources = globSync('{cmd,internal}/**/*.ts', { cwd: root }).map((file) =>
      readFileSync(join(root, file), 'utf8'),
    );
    const made = sources
      .flatMap((source) => [...source.matchAll(/'(runledger_\w+)',\n? *'[A-Z][a-z ]/g)])
      .map(([, name]) => name);
    const listed = new Set<unknown>(metricNames());
    expect(made.filter((name) => !listed.has(name))).to.deep.equal([]);
    expect(made.length).to.be.above(70);
  });

  it('the table of the contract has each field of a request', async () => {
    const pages = ['README.md', 'ARCHITECTURE.md'];
    const texts = [...pages, ...globSync('docs/**/*.md', { cwd: root })].map((page) =>
      readFileSync(join(root, page), 'utf8'),
    );
    const missing = [...requestFields].filter((name) => !texts.some((text) => text.includes(`\n| \`${name}\` `)));
    expect(missing).to.deep.equal([]);
  });

  it('every setting says what it means', () => {
    const silent = Object.entries(settings).filter(([, { desc }]) => desc === undefined);
    expect(silent).to.deep.equal([]);
  });
});
