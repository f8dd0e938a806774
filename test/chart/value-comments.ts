import { parse } from 'yaml';

/** The values that no comment covers: `# -- text` is above a value, or above one that holds it. */
export function valuesWithoutComment(text: string): string[] {
  const covered = new Set<string>();
  let [commented, path] = [false, [] as string[]];
  for (const line of text.split('\n')) {
    const [, indent = '', comment, key] = /^( *)(?:# ?(.*)|([\w-]+):.*)$/.exec(line) ?? [];
    if (comment?.startsWith('-- ')) commented = true;
    if (key === undefined) continue;
    path = [...path.slice(0, indent.length / 2), key];
    if (commented) covered.add(path.join('.'));
    commented = false;
  }
  const isCovered = (leaf: string[]): boolean =>
    leaf.some((_, depth) => covered.has(leaf.slice(0, depth + 1).join('.')));
  return leaves(parse(text)).flatMap((leaf) => (isCovered(leaf) ? [] : [leaf.join('.')]));
}

function leaves(value: unknown): string[][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [[]];
  const below = Object.entries(value).flatMap(([key, child]) => leaves(child).map((path) => [key, ...path]));
  return below.length === 0 ? [[]] : below;
}
