import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { run } from '../../cmd/export/run.ts';

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
  let stderr = '';
  const stdout = new Writable({
    write: (piece: Buffer, _encoding, done) => {
      pieces.push(piece);
      done();
    },
  });
  const terminal = { isTTY, write: (text: string) => (stderr += text) };
  const code = await run([...args], { stdout, stderr: terminal, env });
  return { code, stdout: Buffer.concat(pieces), stderr };
}

/** A folder that ends with its block. */
export async function temporaryFolder(): Promise<AsyncDisposable & { path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'runledger-export-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}
