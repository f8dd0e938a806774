import { existsSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

const memory = '/dev/shm';

/**
 * Where servers of tests keep their data: in memory, if there is room for 1 GiB. Tests kill
 * processes and not machines, so memory keeps what was written. On a busy disk an fsync of Redis
 * takes seconds, and ingest answers 503 after two.
 */
export function memoryFolder(): string {
  if (!existsSync(memory)) return tmpdir();
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize >= 2 ** 30 ? memory : tmpdir();
}
