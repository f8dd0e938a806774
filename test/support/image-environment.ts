import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const read = (path: string): string => readFileSync(join(import.meta.dirname, '../..', path), 'utf8');

const dockerfile = (): string => read('Dockerfile');

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

/** The options of Node that the controller has beside those of the image, as compose sets them. */
export function nodeOptionsOfController(): string[] {
  const { services } = parse(read('deploy/compose/compose.yaml')) as {
    services: { controller: { command: string[] } };
  };
  return services.controller.command.slice(0, -1);
}
