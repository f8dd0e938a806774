import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { arrows, libraries } from '../../../.dependency-cruiser.ts';
import { cruiseImports, forbiddenImports } from '../../support/import-arrows.ts';

interface Probe {
  file: string;
  from: string;
  allowed: boolean;
}

const folders = Object.keys(arrows);

/** One file for each import of a folder: of the other folders, `cmd`, `test`, and every library. */
function probesOf(folder: string): Probe[] {
  const others = folders.filter((name) => name !== folder);
  const imports = [
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
  return imports.map((one, index) => ({ ...one, file: `internal/${folder}/probe-${index}.ts` }));
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
      // Every second probe imports a type only: the arrows hold for types too.
      for (const [index, { file, from }] of [...probes.values()].flat().entries()) {
        await write(root, file, `import ${index % 2 === 0 ? 'type ' : ''}{ one } from '${from}';\n`);
      }
      forbidden = forbiddenImports(await cruiseImports(root));
    } finally {
      await rm(root, { recursive: true, force: true });
    }
  });

  for (const folder of folders) {
    it(`are enforced in internal/${folder}`, () => {
      for (const { file, from, allowed } of probes.get(folder) ?? []) {
        const found = forbidden.some((line) => line.includes(`: ${file} →`));
        expect(!found, `${folder} imports ${from}`).to.equal(allowed);
      }
    });
  }
});

async function write(root: string, file: string, text: string): Promise<void> {
  await mkdir(dirname(join(root, file)), { recursive: true });
  await writeFile(join(root, file), text);
}
