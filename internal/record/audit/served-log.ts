import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ReadServed } from './audit-export.ts';
import { CannotCheck, NotServed } from './finding.ts';

/** Temporary answers: the organization reads faster than its READ_RATE, or the console is busy. */
const passing = new Set([429, 503]);

/** Most requests for one path while the answers are {@link passing}. */
const mostTries = 60;

/** The longest pause between two of them, in s. */
const longestPause = 60;

/** True for the address of a console, false for a folder. */
export function isUrl(where: string): boolean {
  return /^https?:\/\//.test(where) && URL.canParse(where);
}

/** Reads a log from a folder, or from the console with a read token. */
export function servedLog(where: string, token: string | undefined): ReadServed {
  if (!isUrl(where)) return (path) => readFrom(where, path);
  const prefix = where.replace(/\/$/, '');
  return async (path) => {
    for (let tries = 1; ; tries += 1) {
      const answer = await request(prefix, path, token);
      if (answer.ok) return Buffer.from(await answer.arrayBuffer());
      const said = detailOf(await answer.text());
      if (!passing.has(answer.status) || tries === mostTries) {
        const sentence = `The console answers ${answer.status} to ${prefix}/${path}${said}.`;
        throw answer.status === 404 ? new NotServed(sentence) : new CannotCheck(sentence);
      }
      await sleep(1_000 * pauseOf(answer));
    }
  };
}

async function readFrom(folder: string, path: string): Promise<Buffer> {
  try {
    return await readFile(join(folder, path));
  } catch (error) {
    // A folder may be a copy that is not whole, so a missing tile accuses nobody.
    if (path !== 'checkpoint') throw error;
    const Kind = existsSync(folder) ? NotServed : CannotCheck;
    throw new Kind(`The folder ${folder} has no checkpoint.`, { cause: error });
  }
}

async function request(prefix: string, path: string, token = ''): Promise<Response> {
  try {
    return await fetch(`${prefix}/${path}`, { headers: { token }, redirect: 'error' });
  } catch (error) {
    throw new CannotCheck(`${prefix} cannot be read: ${reasonOf(error)}`, { cause: error });
  }
}

/** The seconds of `Retry-After`. Default: 1. */
function pauseOf({ headers }: Response): number {
  const seconds = headers.get('Retry-After') ?? '';
  return /^\d+$/.test(seconds) ? Math.min(longestPause, Number(seconds)) : 1;
}

/** What a console says of an error (RFC 9457), after a colon; nothing for another answer. */
function detailOf(body: string): string {
  try {
    const { detail } = JSON.parse(body) as { detail?: unknown };
    return typeof detail === 'string' ? `: ${detail.replace(/\.$/, '')}` : '';
  } catch {
    return '';
  }
}

/** The reason in sentences. Node keeps the reason of a failed request in its cause. */
function reasonOf(error: unknown): string {
  const { cause = error } = error instanceof Error ? error : {};
  const { message, code = '' } = cause as Error & { code?: string };
  const isUntrusted = /CERT|SIGNATURE|ISSUER/.test(code);
  return isUntrusted ? `${message}. NODE_EXTRA_CA_CERTS names a file with its certificate.` : `${message}.`;
}
