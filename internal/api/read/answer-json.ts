import { hash } from 'node:crypto';
import type { Context } from 'koa';

/**
 * Answers with JSON and its ETag; with 304 if the reader has the same already. No shared cache may
 * keep it.
 */
export function answerJson(ctx: Context, value: unknown): void {
  const text = JSON.stringify(value);
  ctx.status = 200;
  ctx.set('Cache-Control', 'private, no-cache');
  ctx.set('ETag', `"${hash('sha256', text, 'base64url').slice(0, 22)}"`);
  ctx.type = 'application/json';
  ctx.body = text;
  if (ctx.fresh) ctx.status = 304;
}
