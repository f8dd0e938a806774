import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const dockerfile = (): string => readFileSync(join(import.meta.dirname, '../../Dockerfile'), 'utf8');

/** The variables that the image sets for every process: the Dockerfile's `ENV` lines. */
export function environmentOfImage(): Record<string, string> {
  const settings = [...dockerfile().matchAll(/^ENV (\w+)="?(.*?)"?$/gm)].map(
    ([, name = '', value = '']) => [name, value] as const,
  );
  return Object.fromEntries(settings);
}

/** The options of Node in the image: the Dockerfile's ENTRYPOINT without `node`. */
export function nodeOptionsOfImage(): string[] {
  const entrypoint = /^ENTRYPOINT (\["node".*)$/m.exec(dockerfile())?.[1] ?? '[]';
  const [, ...options] = JSON.parse(entrypoint) as string[];
  return options;
}
