import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** The text of each file, by its path from the root of the project. */
export type Texts = ReadonlyMap<string, string>;

export interface Tree {
  readonly texts: Texts;
  /** All files and folders. */
  readonly paths: ReadonlySet<string>;
}

const isText = /\.(ts|md|ya?ml|tpl|txt|sh|mjs|json|sql|lua|go|s)$|(^|\/)[A-Z]\w+file$/;
const isGenerated = /package-lock|snapshots|results\//;

/**
 * Reads the texts that git tracks or would add. Skips generated ones, and the tests that name
 * forbidden words.
 */
export function readTree(): Tree {
  const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    encoding: 'utf8',
  })
    .trim()
    .split('\n')
    .filter(existsSync);
  const wanted = tracked.filter(
    (file) => isText.test(file) && !isGenerated.test(file) && !file.startsWith('test/unit/lint/'),
  );
  const texts = new Map(wanted.map((file) => [file, readFileSync(file, 'utf8')]));
  return { texts, paths: new Set(tracked.flatMap((file) => [file, ...parents(file)])) };
}

function parents(file: string): string[] {
  const folder = dirname(file);
  return folder === '.' ? [] : [folder, ...parents(folder)];
}

/** One line of a file; `number` counts from 1. */
export interface Line {
  readonly file: string;
  readonly number: number;
  readonly text: string;
}

/** `file:line: offence` for each offence that `find` returns for a line. */
export function offences(texts: Texts, find: (line: Line) => readonly string[]): string[] {
  return [...texts].flatMap(([file, whole]) =>
    whole
      .split('\n')
      .flatMap((text, index) => find({ file, number: index + 1, text }).map((what) => `${file}:${index + 1}: ${what}`)),
  );
}

/** The text as one line: without line breaks and the signs that begin a comment's line. */
export function joined(text: string): string {
  return text.replaceAll(/\s*\n[ \t]*(?:\*(?!\/)|\/\/|#(?!#))?[ \t]*/g, ' ');
}
