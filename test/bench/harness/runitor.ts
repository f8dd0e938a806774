import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repository } from '../../support/helm.ts';

const version = 'v1.4.1';

/**
 * The program runitor, which runs commands for Healthchecks: that of RUNITOR, or built of its
 * sources. Undefined where the proxy of Go's modules does not have it.
 */
export async function runitor(): Promise<string | undefined> {
  const given = process.env['RUNITOR'];
  if (given !== undefined) return given;
  const folder = join(repository, `.cache/runitor-${version}`);
  const program = join(folder, 'runitor');
  if (existsSync(program)) return program;
  const env = { ...process.env, GOBIN: folder, GOFLAGS: '-ldflags=-s', CGO_ENABLED: '0' };
  await promisify(execFile)('go', ['install', `bdd.fi/x/runitor/cmd/runitor@${version}`], { env }).catch(
    () => undefined,
  );
  return existsSync(program) ? program : undefined;
}
