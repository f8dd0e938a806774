import { globSync, readFileSync } from 'node:fs';

const root = new URL('../..', import.meta.url).pathname;

/** A fenced block of a document. Its fence is the language, and for a shell maybe a word why. */
export interface Block {
  readonly file: string;
  readonly language: string;
  /** Of a shell: why no test runs it in order, beside `make run`. Empty if one does. */
  readonly mark: string;
  readonly content: string;
}

/** Why a shell block is not run with the others of its page, by the word after `sh`. */
export const marks: Readonly<Record<string, string>> = {
  server: 'starts `make run`, which the tests have started',
  demo: 'takes minutes: test/e2e/make-run-login.test.ts runs it',
  endless: 'does not end',
  command: 'needs the command `runledger`: test/command runs it',
  cluster: 'needs a cluster: a test in test/node or test/cluster runs it by `clusterCommands`',
  record: 'needs a record or tokens of its own: test/integration/documents.test.ts runs it',
  release: 'needs a release in a registry: test/command/release.test.ts verifies one',
  example: 'has names, servers and files that only its reader has',
  install: 'changes the machine: test/command/tools.test.ts does the same',
  ledger: 'needs a log that began with `make run`: test/e2e/make-run-login.test.ts runs it',
};

/** The fenced blocks of README.md and docs, in order. */
export function documentBlocks(): Block[] {
  const files = ['README.md', ...globSync('docs/**/*.md', { cwd: root }).sort()];
  return files.flatMap((file) => blocksOf(file, readFileSync(`${root}/${file}`, 'utf8')));
}

/** The fenced blocks of one text. Runbooks are for a cluster that has a problem. */
export function blocksOf(file: string, text: string): Block[] {
  const inRunbook = file.includes('/runbooks/');
  return [...text.matchAll(/^ *```(\w*)(?: (\w+))?\n([^]*?)^ *```$/gm)].map(
    ([, language = '', mark = inRunbook && language === 'sh' ? 'cluster' : '', content = '']) => ({
      file,
      language,
      mark,
      content,
    }),
  );
}

/** The shell of a page's blocks with a mark, in order. @throws when there is none. */
export function commandsOf(page: string, mark: string): string[] {
  const blocks = documentBlocks().filter((block) => block.file === page && block.mark === mark);
  if (blocks.length === 0) throw new Error(`${page} has no shell with the mark ${mark}`);
  return blocks.map(({ content }) => content);
}

/** The shell of a page for whoever has a cluster: of its block at a place, or of all in order. */
export function clusterCommands(page: string, place?: number): string {
  const blocks = commandsOf(page, 'cluster');
  const chosen = place === undefined ? blocks : blocks.slice(place, place + 1);
  if (chosen.length === 0) throw new Error(`${page} has too few blocks`);
  return chosen.join('\n');
}

/** The runbooks with commands, by the names of their alerts. */
export function runbooksWithCommands(): string[] {
  const inCluster = documentBlocks().filter(({ mark }) => mark === 'cluster');
  return [...new Set(inCluster.flatMap(({ file }) => /\/runbooks\/(\w+)\.md$/.exec(file)?.[1] ?? []))];
}

/**
 * The shell blocks of each page that a test runs, by the name of the page, and the examples of
 * answers between them.
 */
export function runnablePages(): Map<string, Block[]> {
  const runnable = documentBlocks().filter(
    ({ language, mark }) => language === 'json' || (language === 'sh' && mark === ''),
  );
  const pages = Map.groupBy(runnable, ({ file }) => file);
  return new Map([...pages].filter(([, of]) => of.some(({ language }) => language === 'sh')));
}
