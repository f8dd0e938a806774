import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runAdmin } from './admin.ts';
import type { Manifest } from '../../internal/record/archive/manifest.ts';

export const acme20 = 'organization=acme/day=2026-11-20/events.ndjson';
export const globex20 = 'organization=globex/day=2026-11-20/events.ndjson';

/** What a run of the command export printed, and its exit code. */
export interface ExportRun {
  code: number;
  stdout: Buffer;
  stderr: string;
}

/** Runs the command in this process. On a terminal it shows its progress. */
export async function runExport(
  env: Record<string, string>,
  args: readonly string[],
  isTTY = false,
): Promise<ExportRun> {
  const pieces: Buffer[] = [];
  const onOutput = (piece: Buffer): void => void pieces.push(piece);
  const { code, stderr } = await runAdmin(['export', ...args], { env, isTTY, onOutput });
  return { code, stdout: Buffer.concat(pieces), stderr };
}

/** A folder that ends with its block. */
export async function temporaryFolder(): Promise<AsyncDisposable & { path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'runledger-export-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}

/** The files below a folder, in the order of their names. */
export async function namesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  return files.map((file) => file.slice(folder.length + 1)).toSorted();
}

/** Adds the manifest of each object to the names. */
export function withManifest(...names: string[]): string[] {
  return names.flatMap((name) => [name, `${name}.manifest.json`]);
}

export async function manifestOf(folder: string, object: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(folder, `${object}.manifest.json`), 'utf8')) as Manifest;
}
