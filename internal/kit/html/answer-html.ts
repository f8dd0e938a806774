import { gzipSync } from 'node:zlib';
import type { Html } from './html.ts';

/** The part of Koa's context that an answer needs. */
interface Answer {
  status: number;
  body: unknown;
  set(headers: Record<string, string>): void;
  acceptsEncodings(...encodings: string[]): string | false;
}

/** Pages from this length on are compressed. */
const leastCompressed = 2_048;

/** A fast level: compresses a page of 50 KB in about a millisecond. */
const level = 4;

/**
 * Only scripts, styles, images and requests of this origin: no inline script, no inline style, no
 * frame. Forms submit to this origin only.
 */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The headers of every answer to a browser. */
export const browserHeaders = {
  'Content-Security-Policy': contentSecurityPolicy,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
} as const;

/**
 * Answers with a page, or a part of one, which no shared cache may keep. It is compressed for
 * browsers that ask for it, since no page holds a secret whose length could leak.
 */
export function answerHtml(ctx: Answer, content: Html, status = 200, compresses = true): void {
  ctx.status = status;
  ctx.set({
    ...browserHeaders,
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': 'private, no-cache',
    Vary: 'Cookie, HX-Request, Accept-Encoding',
  });
  const text = String(content);
  if (!compresses || text.length < leastCompressed || ctx.acceptsEncodings('gzip', 'identity') !== 'gzip') {
    ctx.body = text;
    return;
  }
  ctx.set({ 'Content-Encoding': 'gzip' });
  ctx.body = gzipSync(text, { level });
}

/** Answers with a page that holds a secret. Nothing may keep it, and its length reveals nothing. */
export function answerSecret(ctx: Answer, content: Html): void {
  answerHtml(ctx, content, 200, false);
  ctx.set({ 'Cache-Control': 'no-store' });
}
