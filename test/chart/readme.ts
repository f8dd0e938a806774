import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isMap, isNode, isScalar, parseDocument, type Document, type Pair, type YAMLMap } from 'yaml';
import { chart } from '../support/helm.ts';

const [start, end] = ['<!-- values: start -->', '<!-- values: end -->'];

interface Row {
  readonly section: string;
  readonly key: string;
  readonly value: unknown;
  readonly description: string;
}

/**
 * The chart's README with tables made from the comments of values.yaml, in helm-docs' notation: `#
 * -- text` above a key, continued by `# text`, and `# @section -- Name` above the first key of a
 * section.
 */
export async function chartReadme(): Promise<{ current: string; wanted: string }> {
  const current = await readFile(join(chart, 'README.md'), 'utf8');
  const values = parseDocument(await readFile(join(chart, 'values.yaml'), 'utf8'));
  const [before, rest] = current.split(start);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) throw new Error(`README.md lacks ${start} or ${end}`);
  return { current, wanted: `${before}${start}\n\n${tables(rowsOf(values))}\n${end}${after}` };
}

/** One row for each documented value. Throws for a value that no comment covers. */
export function rowsOf(document: Document): Row[] {
  if (!isMap(document.contents)) throw new Error('values.yaml is not a map');
  const rows: Row[] = [];
  // The comment above the first key belongs to the document, for the parser.
  let section = sectionIn(document.contents.commentBefore ?? document.commentBefore) ?? '';
  for (const pair of document.contents.items) {
    section = sectionIn(commentOf(pair)) ?? section;
    rows.push(...rowsBelow(pair, '', section));
  }
  return rows;
}

function rowsBelow(pair: Pair, path: string, section: string, inherited = ''): Row[] {
  const key = path === '' ? String(pair.key) : `${path}.${String(pair.key)}`;
  const description = descriptionIn(commentOf(pair)) ?? descriptionIn(inherited);
  const children = isMap(pair.value) ? pair.value : undefined;
  if (children !== undefined && hasDescriptions(children)) {
    const first = children.commentBefore ?? '';
    const below = children.items.flatMap((child, index) => rowsBelow(child, key, section, index === 0 ? first : ''));
    return description === undefined ? below : [row(pair, key, section, description), ...below];
  }
  if (description === undefined) throw new Error(`${key} has no comment`);
  return [row(pair, key, section, description)];
}

function row(pair: Pair, key: string, section: string, description: string): Row {
  const value: unknown = isNode(pair.value) ? pair.value.toJSON() : null;
  return { section, key, value, description };
}

function hasDescriptions(map: YAMLMap): boolean {
  const comments = [map.commentBefore, ...map.items.map(commentOf)];
  if (comments.some((comment) => descriptionIn(comment) !== undefined)) return true;
  return map.items.some(({ value }) => isMap(value) && hasDescriptions(value));
}

function commentOf({ key }: Pair): string | undefined {
  return isScalar(key) ? (key.commentBefore ?? undefined) : undefined;
}

/** The text after `--`, with the lines that continue it. */
function descriptionIn(comment: string | null | undefined): string | undefined {
  return /^ -- (.+(?:\n (?!--|@).+)*)/m.exec(comment ?? '')?.[1]?.replaceAll('\n', '');
}

function sectionIn(comment: string | null | undefined): string | undefined {
  return /^ @section -- (.+)$/m.exec(comment ?? '')?.[1];
}

function tables(rows: readonly Row[]): string {
  const sections = [...new Set(rows.map(({ section }) => section))];
  return sections
    .map((section) =>
      table(
        section,
        rows.filter((row) => row.section === section),
      ),
    )
    .join('\n');
}

function table(section: string, rows: readonly Row[]): string {
  const cell = (text: string): string => text.replaceAll('|', '\\|');
  const lines = rows.map(({ key, value, description }) => {
    return `| \`${key}\` | \`${cell(JSON.stringify(value))}\` | ${cell(description)} |`;
  });
  return [`### ${section}`, '', '| Value | Default | What it does |', '| --- | --- | --- |', ...lines, ''].join('\n');
}

if (import.meta.main) {
  const { wanted } = await chartReadme();
  await writeFile(join(chart, 'README.md'), wanted);
}
