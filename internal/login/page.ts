import type { Context } from '../intake/http/page-route.ts';
import { answerHtml } from '../kit/html/answer-html.ts';
import type { Html } from '../kit/html/html.ts';
import type { Viewer } from './viewer.ts';

/** Makes a page of the console from a title and a body. */
export type Page = (content: { title: string; viewer?: Viewer | undefined; body: Html }) => Html;

/** Answers with a login page that no cache may keep. */
export function answerPage(ctx: Context, content: Html, status = 200): void {
  answerHtml(ctx, content, status);
  ctx.set('Cache-Control', 'no-store');
}

/** Redirects the browser to another address with a GET. */
export function leadTo(ctx: Context, address: string): void {
  ctx.status = 303;
  ctx.set({ Location: address, 'Cache-Control': 'no-store' });
  ctx.body = '';
}
