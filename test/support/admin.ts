import { Readable, Writable } from 'node:stream';
import { run } from '../../cmd/admin/run.ts';

/** What a run of `runledger-admin` printed, and its exit code. */
export interface AdminRun {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface AdminSurroundings {
  readonly env?: NodeJS.ProcessEnv;
  /** Standard input. */
  readonly input?: string;
  /** On a terminal a command shows its progress. */
  readonly isTTY?: boolean;
  readonly onOutput?: (piece: Buffer) => void;
}

/** Runs a command line in this process. */
export async function runAdmin(
  args: readonly string[],
  { env = {}, input = '', isTTY = false, onOutput }: AdminSurroundings = {},
): Promise<AdminRun> {
  const pieces: Buffer[] = [];
  let stderr = '';
  const stdout = new Writable({
    write: (piece: Buffer, _encoding, done) => {
      onOutput?.(piece);
      pieces.push(piece);
      done();
    },
  });
  const terminal = { isTTY, write: (text: string) => (stderr += text) };
  const { signal } = new AbortController();
  const code = await run([...args], { stdin: Readable.from([input]), stdout, stderr: terminal, env, signal });
  return { code, stdout: Buffer.concat(pieces).toString(), stderr };
}
