import { hash } from 'node:crypto';
import type { Context } from 'koa';

/**
 * Answers with JSON and its ETag, or with 304 if the reader already has it. An answer that changes
 * with each request has no ETag. No shared cache may keep it.
 */
export function answerJson(
  ctx: Context,
  value: unknown,
  { changesAlways = false }: { changesAlways?: boolean } = {},
): void {
  const text = bytesOf(value);
  ctx.status = 200;
  ctx.set('Cache-Control', 'private, no-cache');
  ctx.type = 'application/json';
  ctx.body = text;
  if (changesAlways) return;
  ctx.set('ETag', `"${hash('sha256', text, 'base64url').slice(0, 22)}"`);
  if (ctx.fresh) ctx.status = 304;
}

/**
 * The JSON bytes of a value. Serializes a page item by item: one text of all items would take twice
 * as much memory again.
 */
function bytesOf(value: unknown): Buffer {
  if (!isPage(value)) return Buffer.from(JSON.stringify(value));
  const { items, ...rest } = value;
  const pieces = items.flatMap((item, index) => [
    Buffer.from(index === 0 ? '' : ','),
    Buffer.from(JSON.stringify(item)),
  ]);
  const end = JSON.stringify(rest).slice(1);
  return Buffer.concat([Buffer.from('{"items":['), ...pieces, Buffer.from(end === '}' ? ']}' : `],${end}`)]);
}

function isPage(value: unknown): value is { items: unknown[] } {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.keys(value)[0] === 'items' &&
    'items' in value &&
    Array.isArray(value.items)
  );
}
