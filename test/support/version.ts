import { glob, readFile, writeFile } from 'node:fs/promises';

/** A version that a file states. */
export interface StatedVersion {
  readonly place: string;
  readonly version: string;
}

const files = [
  '*.{md,json}',
  'Dockerfile',
  '{charts,cmd,deploy,docs,internal}/**/*.{yaml,yml,md,sh,ts,go,json,tpl,txt}',
];

/** What stands before Runledger's own version: in images, archives, the chart and the package. */
const before = [
  String.raw`\brunledger\/(?:[\w-]+\/)*[\w-]+:`,
  String.raw`refs\/tags\/v`,
  String.raw`\.cache\/release\/`,
  String.raw`RUNLEDGER_VERSION:-`,
  String.raw`\brunledger[-_]`,
  String.raw`--version `,
  String.raw`^(?:version|appVersion): `,
  String.raw`^\{\s+"name": "runledger",\s+"version": "`,
  String.raw`^\s+"": \{\s+"name": "runledger",\s+"version": "`,
].join('|');
const stated = new RegExp(String.raw`(?<=${before})\d+\.\d+\.\d+(?:-(?:alpha|beta|rc)[\w.]*)?`, 'gm');

/** The version of this tree: that of package.json. */
export async function ownVersion(): Promise<string> {
  return (JSON.parse(await readFile('package.json', 'utf8')) as { version: string }).version;
}

/** Each place that states Runledger's version, package.json among them. */
export async function statedVersions(): Promise<StatedVersion[]> {
  const found: StatedVersion[] = [];
  for await (const file of glob(files)) {
    for (const [version] of (await readFile(file, 'utf8')).matchAll(stated)) found.push({ place: file, version });
  }
  return found;
}

/** Writes a version into every one of those places. */
async function stamp(version: string): Promise<void> {
  for (const file of new Set((await statedVersions()).map(({ place }) => place))) {
    await writeFile(file, (await readFile(file, 'utf8')).replaceAll(stated, version));
  }
}

if (import.meta.main) {
  const [, , version = ''] = process.argv;
  if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)) throw new Error('make version VERSION=1.2.3');
  await stamp(version);
}
