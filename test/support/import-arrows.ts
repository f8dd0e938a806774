import { glob, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import { rules } from '../../.dependency-cruiser.ts';

/**
 * Runs dependency-cruiser on `internal` and `cmd` of a folder. It cannot read TypeScript 7, so it
 * gets a copy without types, in which a type import is a plain import: arrows hold for types too.
 */
export async function cruiseImports(root: string): Promise<ICruiseResult> {
  const copy = await mkdtemp(join(tmpdir(), 'runledger-imports-'));
  try {
    await symlink(resolve('node_modules'), join(copy, 'node_modules'));
    for await (const file of glob('{internal,cmd,test}/**/*.ts', { cwd: root })) {
      const path = join(copy, asJavaScript(file));
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, withPlainImports(await readFile(join(root, file), 'utf8')));
    }
    const options = { baseDir: copy, ruleSet: rules, validate: true, doNotFollow: { path: 'node_modules' } };
    const resolving = { exportsFields: ['exports'], conditionNames: ['import', 'node', 'types', 'default'] };
    const { output } = await cruise(['internal', 'cmd'], options, resolving);
    if (typeof output === 'string') throw new Error(output);
    return output;
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

let ofProject: Promise<ICruiseResult> | undefined;

/** The imports of this project, read once a run. */
export function projectImports(): Promise<ICruiseResult> {
  ofProject ??= cruiseImports('.');
  return ofProject;
}

/** One line for each forbidden import, with the names of the TypeScript files. */
export function forbiddenImports({ summary }: ICruiseResult): string[] {
  return summary.violations.map(({ from, to, rule }) => `${rule.name}: ${asTypeScript(from)} → ${asTypeScript(to)}`);
}

/** The arrows in use between folders of `internal`, as a Mermaid graph. */
export function arrowsGraph({ modules }: ICruiseResult): string {
  const found = modules.flatMap(({ source, dependencies }) =>
    dependencies.map(({ resolved }) => `${folderOf(source)} --> ${folderOf(resolved)}`),
  );
  const arrows = [...new Set(found)].filter((arrow) => {
    const [from, to] = arrow.split(' --> ');
    return from !== '' && to !== '' && from !== to;
  });
  const targets = Map.groupBy(arrows.toSorted(), (arrow) => arrow.split(' --> ')[0]);
  const lines = Array.from(targets, ([from, all]) => {
    return `  ${from} --> ${all.map((arrow) => arrow.split(' --> ')[1]).join(' & ')}`;
  });
  return ['```mermaid', 'graph LR', ...lines, '```'].join('\n');
}

function folderOf(file: string): string {
  return /^internal\/([^/]+)\//.exec(file)?.[1] ?? '';
}

function withPlainImports(source: string): string {
  const plain = source
    .replaceAll(/^import type /gm, 'import ')
    .replaceAll(/^export type (?=\{)/gm, 'export ')
    .replaceAll(/([{,]\s*)type (?=\w+[ ,}])/g, '$1');
  return stripTypeScriptTypes(plain).replaceAll(/(['"]\.[^'"]*)\.ts(['"])/g, '$1.js$2');
}

function asJavaScript(file: string): string {
  return file.replace(/\.ts$/, '.js');
}

function asTypeScript(file: string): string {
  return file.replace(/\.js$/, '.ts');
}
