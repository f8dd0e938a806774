import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ReadServed } from '../../internal/audit/audit-export.ts';
import { CannotCheck } from '../../internal/audit/finding.ts';

/** Reads a log from a folder, or from the console with a read token. */
export function servedLog(where: string, token: string | undefined): ReadServed {
  if (!/^https?:\/\//.test(where)) return (path) => readFile(join(where, path));
  const prefix = where.replace(/\/$/, '');
  return async (path) => {
    const answer = await fetch(`${prefix}/${path}`, { headers: { token: token ?? '' }, redirect: 'error' }).catch(
      (error: unknown) => {
        throw new CannotCheck(`${prefix} does not answer: ${reasonOf(error)}.`, { cause: error });
      },
    );
    if (!answer.ok) throw new CannotCheck(`The console answers ${answer.status} to ${prefix}/${path}.`);
    return Buffer.from(await answer.arrayBuffer());
  };
}

/** Node keeps the reason of a failed request in its cause. */
function reasonOf(error: unknown): string {
  const { cause = error } = error instanceof Error ? error : {};
  return cause instanceof Error ? cause.message : String(cause);
}
