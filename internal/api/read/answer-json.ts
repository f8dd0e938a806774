import { hash } from 'node:crypto';
import type { Context } from 'koa';

/**
 * Answers with JSON and its ETag; with 304 if the reader has the same already. An answer that
 * changes with each request has no ETag. No shared cache may keep it.
 */
export function answerJson(
  ctx: Context,
  value: unknown,
  { changesAlways = false }: { changesAlways?: boolean } = {},
): void {
  const text = JSON.stringify(value);
  ctx.status = 200;
  ctx.set('Cache-Control', 'private, no-cache');
  ctx.type = 'application/json';
  ctx.body = text;
  if (changesAlways) return;
  ctx.set('ETag', `"${hash('sha256', text, 'base64url').slice(0, 22)}"`);
  if (ctx.fresh) ctx.status = 304;
}
