import type { Agent } from 'node:https';
import { storable } from '../../event/stored-text.ts';
import type { Claim } from './claim.ts';
import { post } from './post.ts';
import { signedHeaders, signingKey } from './signature.ts';
import { messageOf } from '../../kit/errors/message-of.ts';

/** The result of an attempt. `error` is a sentence for people, without internal details. */
export type AttemptResult =
  { ok: true; status: number } | { ok: false; status: number | null; error: string; retryAfterMs: number };

export interface AttemptOptions {
  /** The secrets of the webhook; several during a rotation. */
  secrets: readonly string[];
  agent: Agent;
  timeoutMs: number;
}

/** Attempts a delivery once. Any 2xx means that the receiver has it. */
export async function attempt(claim: Claim, { secrets, agent, timeoutMs }: AttemptOptions): Promise<AttemptResult> {
  const keys = secrets.map(signingKey).filter((key) => key !== undefined);
  if (keys.length === 0 || keys.length < secrets.length) return failed('its Secret has no valid signing key');
  const url = URL.parse(claim.url);
  if (url?.protocol !== 'https:') return failed('its address does not begin with https://');
  const body = JSON.stringify(claim.event);
  const headers = {
    'Content-Type': 'application/cloudevents+json',
    'User-Agent': 'Runledger',
    ...signedHeaders(claim.id, new Date(), body, keys),
  };
  try {
    const { status, retryAfterMs } = await post(url, { agent, headers, body, timeoutMs });
    if (status >= 200 && status < 300) return { ok: true, status };
    return { ok: false, status, error: `the receiver answered ${status}`, retryAfterMs };
  } catch (error) {
    return failed(reasonOf(error));
  }
}

/** Maximum length of a stored error, in characters: a receiver may control parts of it. */
const longestError = 500;

function failed(error: string): AttemptResult {
  return { ok: false, status: null, error: storable(error, longestError), retryAfterMs: 0 };
}

/**
 * The reason in words. It is the same for all refused addresses, so it reveals nothing about them.
 */
function reasonOf(error: unknown): string {
  const code = codeOf(error);
  if (code === 'ERR_IP_BLOCKED') return 'its address is private, and private addresses are not allowed';
  return code ?? messageOf(error);
}

/** The code of an error, or of the first address tried. */
function codeOf(error: unknown): string | undefined {
  const tried = error instanceof AggregateError ? (error.errors[0] as unknown) : error;
  const code = tried instanceof Error && 'code' in tried ? tried.code : undefined;
  return typeof code === 'string' ? code : undefined;
}
