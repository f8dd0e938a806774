import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { chart } from '../support/helm.ts';

const [start, end] = ['<!-- values: start -->', '<!-- values: end -->'];

interface Row {
  readonly section: string;
  readonly path: string[];
  readonly value: unknown;
  readonly description: string;
}

/**
 * The chart's README with tables made from the comments of values.yaml, in helm-docs' notation: `#
 * -- text` above a key, continued by `# text`, and `# @section -- Name` above the first key of a
 * section. What several processes say alike has one row.
 */
export async function chartReadme(): Promise<string> {
  const current = await readFile(join(chart, 'README.md'), 'utf8');
  const rows = rowsOf(await readFile(join(chart, 'values.yaml'), 'utf8'));
  const [before, rest] = current.split(start);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) throw new Error(`README.md lacks ${start} or ${end}`);
  const tables = [...Map.groupBy(joined(rows), ({ section }) => section)].map(([section, of]) => table(section, of));
  return `${before}${start}\n\n${tables.join('\n')}\n${end}${after}`;
}

const processes = new Set(['ingest', 'worker', 'console', 'controller']);

/** Rows that several processes have alike, as one row of the section "Several processes". */
function joined(rows: readonly Row[]): Row[] {
  const groups = Map.groupBy(rows, (row) => {
    const [process = '', ...path] = row.path;
    const shared = processes.has(process) ? ['<process>', ...path] : row.path;
    return JSON.stringify([shared, row.value, firstSentence(row.description)]);
  });
  const several = [...groups.values()].flatMap((group) => {
    const [row] = group;
    if (row === undefined || group.length === 1) return [];
    const names = group.map(({ path: [name = ''] }) => name);
    const process = names.length === processes.size ? '<process>' : `<${names.join('|')}>`;
    return [{ ...row, section: 'Several processes', path: [process, ...row.path.slice(1)] }];
  });
  const others = [...groups.values()].flatMap((group) => (group.length === 1 ? group : []));
  return others.toSpliced(
    others.findIndex(({ section }) => section === 'Ingest'),
    0,
    ...several,
  );
}

/** What a table says: values.yaml has the rest, with examples. */
function firstSentence(description: string): string {
  return /^.*?[.:](?= |$)/.exec(description)?.[0].replace(/:$/, '.') ?? description;
}

/** The longest default that a table shows. */
const longestDefault = 40;

/** One row for each documented value. Throws for a value that no comment covers. */
export function rowsOf(text: string): Row[] {
  const values: unknown = parse(text);
  const rows: Row[] = [];
  let [section, description, path] = ['', '', [] as string[]];
  for (const line of text.split('\n')) {
    const [, indent = '', comment, key] = /^( *)(?:# ?(.*)|([\w-]+):.*)$/.exec(line) ?? [];
    if (comment?.startsWith('@section -- ')) section = comment.slice(12);
    else if (comment?.startsWith('-- ')) description = comment.slice(3);
    else if (comment !== undefined && description !== '') description += ` ${comment}`;
    if (key === undefined) continue;
    path = [...path.slice(0, indent.length / 2), key];
    if (description !== '') rows.push({ section, path, value: valueAt(values, path), description });
    description = '';
  }
  const covered = new Set(rows.map((row) => row.path.join('.')));
  const bare = leaves(values).find((leaf) => !leaf.some((_, depth) => covered.has(leaf.slice(0, depth + 1).join('.'))));
  if (bare !== undefined) throw new Error(`${bare.join('.')} has no comment`);
  return rows;
}

function valueAt(values: unknown, path: string[]): unknown {
  return path.reduce((value, key) => (value as Record<string, unknown>)[key], values);
}

function leaves(value: unknown): string[][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [[]];
  const below = Object.entries(value).flatMap(([key, child]) => leaves(child).map((path) => [key, ...path]));
  return below.length === 0 ? [[]] : below;
}

function table(section: string, rows: readonly Row[]): string {
  const cell = (text: string): string => text.replaceAll('|', '\\|');
  const lines = rows.map(({ path, value, description }) => {
    const text = JSON.stringify(value);
    const shown = text.length > longestDefault ? '…' : `\`${cell(text)}\``;
    return `| \`${cell(path.join('.'))}\` | ${shown} | ${cell(firstSentence(description))} |`;
  });
  return [`### ${section}`, '', '| Value | Default | What it does |', '| --- | --- | --- |', ...lines, ''].join('\n');
}
