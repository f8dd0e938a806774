import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { arrows, libraries } from '../../../.dependency-cruiser.ts';
import { cruiseImports, forbiddenImports } from '../../support/import-arrows.ts';

interface Probe {
  from: string;
  allowed: boolean;
}

const folders = Object.keys(arrows);

/** What a file of a folder imports: of the other folders, `cmd`, `test`, and every library. */
function probesOf(folder: string): Probe[] {
  const others = folders.filter((name) => name !== folder);
  return [
    ...others.map((other) => ({ from: `../${other}/target.ts`, allowed: arrows[folder]?.includes(other) ?? false })),
    { from: '../../cmd/target.ts', allowed: false },
    { from: '../../test/target.ts', allowed: false },
    { from: '../unknown/target.ts', allowed: false },
    { from: './target.ts', allowed: true },
    { from: 'node:fs', allowed: true },
    { from: 'chai', allowed: false },
    ...[...new Set(Object.values(libraries).flat())]
      .filter((name) => !name.includes('['))
      .map((from) => ({ from, allowed: libraries[folder]?.includes(from) ?? false })),
  ];
}

const fileOf = (folder: string): string => `internal/${folder}/probe.ts`;

/** Where an import of a folder's file leads: a file of the tree, or a library wherever it is. */
function isTarget(folder: string, from: string, target: string): boolean {
  if (from.startsWith('.')) return join(dirname(fileOf(folder)), from) === target;
  return target === from || target.includes(`node_modules/${from}/`);
}

describe('import arrows', () => {
  const probes = new Map(folders.map((folder) => [folder, probesOf(folder)]));
  let forbidden: string[];

  before(async function () {
    this.timeout(60_000);
    const root = await mkdtemp(join(tmpdir(), 'runledger-arrows-'));
    try {
      const targets = [...folders, 'unknown'].map((folder) => `internal/${folder}/target.ts`);
      for (const file of [...targets, 'cmd/target.ts', 'test/target.ts']) await write(root, file, 'export {};\n');
      for (const [folder, imports] of probes) {
        // Every second one imports a type only: the arrows hold for types too.
        const lines = imports.map(
          ({ from }, index) => `import ${index % 2 === 0 ? 'type ' : ''}{ one as one${index} } from '${from}';\n`,
        );
        await write(root, fileOf(folder), lines.join(''));
      }
      forbidden = forbiddenImports(await cruiseImports(root));
    } finally {
      await rm(root, { recursive: true, force: true });
    }
  });

  for (const folder of folders) {
    it(`are enforced in internal/${folder}`, () => {
      const targets = forbidden
        .map((line) => line.replace(/^.*?: /, '').split(' → '))
        .flatMap(([file, target = '']) => (file === fileOf(folder) ? [target] : []));
      for (const { from, allowed } of probes.get(folder) ?? []) {
        const found = targets.some((target) => isTarget(folder, from, target));
        expect(!found, `${folder} imports ${from}`).to.equal(allowed);
      }
    });
  }
});

async function write(root: string, file: string, text: string): Promise<void> {
  await mkdir(dirname(join(root, file)), { recursive: true });
  await writeFile(join(root, file), text);
}
