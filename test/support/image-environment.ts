import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What the image sets for every process: the Dockerfile's `ENV` lines. */
export function environmentOfImage(): Record<string, string> {
  const dockerfile = readFileSync(join(import.meta.dirname, '../../Dockerfile'), 'utf8');
  const settings = [...dockerfile.matchAll(/^ENV (\w+)="?(.*?)"?$/gm)].map(([, name = '', value = '']) => [
    name,
    value,
  ]);
  return Object.fromEntries(settings) as Record<string, string>;
}
