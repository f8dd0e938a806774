import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { expect } from 'chai';

/** Folder → what it may import of internal (design, section 7). */
const arrows: Record<string, string[]> = {
  event: [],
  outcome: ['event'],
  api: ['event', 'telemetry'],
  queue: ['event', 'telemetry'],
  worker: ['event', 'outcome', 'telemetry'],
  store: ['event', 'outcome', 'telemetry'],
  tokens: ['telemetry'],
  telemetry: [],
  lifecycle: ['telemetry'],
  config: [],
};

/** Library → the one folder that imports it. */
const libraries: Record<string, string> = {
  koa: 'api',
  '@koa/router': 'api',
  'koa-bodyparser': 'api',
  'koa-compose': 'api',
  ajv: 'event',
  'ajv/dist/2020.js': 'event',
  bullmq: 'queue',
  ioredis: 'queue',
  pg: 'store',
  kysely: 'store',
  '@electric-sql/pglite': 'store',
  '@kubernetes/client-node': 'tokens',
  yaml: 'tokens',
  'prom-client': 'telemetry',
  pino: 'telemetry',
  envalid: 'config',
};

describe('import arrows', () => {
  let forbidden: Set<string>;
  const imports: { file: string; from: string; allowed: boolean }[] = [];
  const folders = Object.keys(arrows);
  const add = (folder: string, from: string, allowed: boolean): void => {
    imports.push({ file: `internal/${folder}/probe-${imports.length}.ts`, from, allowed });
  };
  for (const folder of folders) {
    for (const other of folders.filter((name) => name !== folder)) {
      add(folder, `../${other}/x.ts`, arrows[folder]?.includes(other) ?? false);
    }
    for (const outside of ['cmd/ingest/ingest.ts', 'test/support/until.ts']) add(folder, `../../${outside}`, false);
    for (const [library, owner] of Object.entries(libraries)) add(folder, library, owner === folder);
    add(folder, './neighbour.ts', true);
    add(folder, 'node:fs', true);
  }

  before(async function () {
    this.timeout(30_000);
    forbidden = await forbiddenImports(imports);
  });

  for (const folder of folders) {
    it(`are enforced in internal/${folder}`, () => {
      for (const { file, from, allowed } of imports.filter((one) => one.file.startsWith(`internal/${folder}/`))) {
        expect(!forbidden.has(file), `${folder} imports ${from}`).to.equal(allowed);
      }
    });
  }
});

/** The files whose import the project's lint rejects, in a copy outside the tree. */
async function forbiddenImports(imports: { file: string; from: string }[]): Promise<Set<string>> {
  const folder = await mkdtemp(join(tmpdir(), 'runledger-lint-'));
  try {
    await cp('.oxlintrc.json', join(folder, '.oxlintrc.json'));
    for (const { file, from } of imports) {
      const path = join(folder, file);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, `import * as imported from '${from}';\nexport const probe = imported;\n`);
    }
    const output = await run(resolve('node_modules/.bin/oxlint'), ['--format', 'json'], folder);
    const { diagnostics } = JSON.parse(output) as { diagnostics: { code: string; filename: string }[] };
    return new Set(
      diagnostics
        .filter(({ code }) => code.includes('no-restricted-imports'))
        .map(({ filename }) => filename.slice(filename.indexOf('internal/'))),
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Standard output, whatever the exit code: a linter that finds something fails. */
function run(command: string, args: string[], cwd: string): Promise<string> {
  return new Promise((done, fail) => {
    execFile(command, args, { cwd, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      if (stdout === '') fail(new Error(stderr, { cause: error }));
      else done(stdout);
    });
  });
}
