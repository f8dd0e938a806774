import type { Agent } from 'node:https';
import { storable } from '../../event/stored-text.ts';
import { messageOf as reasonOfError } from '../../kit/errors/message-of.ts';
import { chatRequest } from './chat-formats.ts';
import type { Claim } from './claim.ts';
import { sendMail, type MailServer } from './mail.ts';
import { post } from './post.ts';
import { signedHeaders, signingKey } from './signature.ts';
import { messageOf } from './told-message.ts';

/** The result of an attempt. `error` is a sentence for people, without internal details. */
export type AttemptResult =
  /** `error`: recipients that the mail server refuses. `restMs`: how long the channel wants no other. */
  | { ok: true; status: number; error: string | null; restMs: number }
  | {
      ok: false;
      status: number | null;
      error: string;
      retryAfterMs: number;
      /** True if another attempt would get the same answer. */
      isFinal: boolean;
    };

export interface AttemptOptions {
  /** The signing keys of a webhook, several during a rotation; or the address of a chat and its token. */
  secrets: readonly string[];
  agent: Agent;
  /** Undefined if the installation has none. */
  mailServer: MailServer | undefined;
  timeoutMs: number;
}

/**
 * How long a chat or a mail server gets no other message after one, in ms. Slack and Google Chat
 * take one a second; what happens meanwhile becomes one message.
 */
const restMs = 1_000;

/** Attempts a claim once. Any 2xx means that the receiver has it. */
export async function attempt(claim: Claim, options: AttemptOptions): Promise<AttemptResult> {
  try {
    if (claim.type === 'webhook') return await attemptWebhook(claim, options);
    return await (claim.type === 'email' ? attemptMail(claim, options) : attemptChat(claim, claim.type, options));
  } catch (error) {
    return failed(reasonOf(error));
  }
}

async function attemptWebhook(claim: Claim, { secrets, agent, timeoutMs }: AttemptOptions): Promise<AttemptResult> {
  const keys = secrets.map(signingKey).filter((key) => key !== undefined);
  if (keys.length === 0 || keys.length < secrets.length) return failed('its Secret has no valid signing key');
  const url = URL.parse(claim.url);
  if (url?.protocol !== 'https:') return failed('its address does not begin with https://');
  const body = JSON.stringify(claim.events[0]);
  const headers = {
    'Content-Type': 'application/cloudevents+json',
    'User-Agent': 'Runledger',
    ...signedHeaders(claim.id, new Date(), body, keys),
  };
  const { status, retryAfterMs } = await post(url, { agent, headers, body, timeoutMs });
  if (status >= 200 && status < 300) return { ok: true, status, error: null, restMs: 0 };
  return { ...failed(`the receiver answered ${status}`), status, retryAfterMs };
}

async function attemptChat(
  claim: Claim,
  type: Exclude<Claim['type'], 'webhook' | 'email'>,
  { secrets: [address = '', token], agent, timeoutMs }: AttemptOptions,
): Promise<AttemptResult> {
  const target = URL.parse(address);
  if (target?.protocol !== 'https:') return failed('its address is not known yet');
  const message = messageOf(claim, claim.organization);
  const { url, headers, body } = chatRequest(type, message, { url: target, token, id: claim.id });
  const own = { ...headers, 'User-Agent': 'Runledger' };
  const answer = await post(url, { agent, headers: own, body, timeoutMs });
  const { status, retryAfterMs, pauseMs, text } = answer;
  if (status >= 200 && status < 300) return { ok: true, status, error: null, restMs: Math.max(restMs, pauseMs) };
  const said = text === '' ? '' : `: ${text}`;
  return { ...failed(`the receiver answered ${status}${said}`), status, retryAfterMs, isFinal: isFinalStatus(status) };
}

/** 408, 425 and 429 ask to try again. */
function isFinalStatus(status: number): boolean {
  return status >= 400 && status < 500 && ![408, 425, 429].includes(status);
}

async function attemptMail(claim: Claim, { mailServer, timeoutMs }: AttemptOptions): Promise<AttemptResult> {
  if (mailServer === undefined) return failed('this installation has no mail server: its operators set SMTP_URL');
  const message = messageOf(claim, claim.organization);
  try {
    const { refused } = await sendMail(mailServer, { id: claim.id, to: claim.to, message, timeoutMs });
    const error = refused.length === 0 ? null : storable(refused.join('; '), longestError);
    return { ok: true, status: 250, error, restMs };
  } catch (error) {
    const { responseCode, code } = Object(error) as { responseCode?: unknown; code?: unknown };
    const status = typeof responseCode === 'number' ? responseCode : null;
    // Other errors, such as a wrong password, are for the operators to mend.
    const isFinal = status !== null && status >= 500 && (code === 'EENVELOPE' || code === 'EMESSAGE');
    return { ...failed(reasonOfError(error)), status, isFinal };
  }
}

/** Maximum length of a stored error, in characters: a receiver may control parts of it. */
const longestError = 500;

function failed(error: string): AttemptResult & { ok: false } {
  return { ok: false, status: null, error: storable(error, longestError), retryAfterMs: 0, isFinal: false };
}

/**
 * The reason in words. It is the same for all refused addresses, so it reveals nothing about them.
 */
function reasonOf(error: unknown): string {
  const code = codeOf(error);
  if (code === 'ERR_IP_BLOCKED') return 'its address is private, and private addresses are not allowed';
  return code ?? reasonOfError(error);
}

/** The code of an error, or of the first address tried. */
function codeOf(error: unknown): string | undefined {
  const tried = error instanceof AggregateError ? (error.errors[0] as unknown) : error;
  const code = tried instanceof Error && 'code' in tried ? tried.code : undefined;
  return typeof code === 'string' ? code : undefined;
}
