import { html, type Content, type Html } from '../../kit/html/html.ts';
import { answerHtml, answerSecret } from '../../kit/html/answer-html.ts';
import type { Console, Visit } from '../visit.ts';

const pages = [
  ['settings/tokens', 'Tokens'],
  ['settings/channels', 'Channels'],
  ['settings/activity', 'Activity'],
] as const;

interface SettingsPage {
  title: string;
  path: string;
  body: Content;
  holdsSecret?: boolean;
  status?: number;
}

/** A settings page. `holdsSecret` keeps it out of every cache. */
export function answerSettings(
  { ctx, viewer, organization }: Visit,
  { site, page }: Console,
  { title, path, body, holdsSecret = false, status = 200 }: SettingsPage,
): void {
  const content = html`<div class="head">
      <h1>${title}</h1>
      <nav class="segments" aria-label="Settings">
        ${pages.map(([to, words]) => html`<a href="${site.of(organization, to)}" ${path === to && html`aria-current="true"`}>${words}</a>`)}
      </nav>
    </div>
    ${body}`;
  const made = page({ title, viewer, organization, section: 'settings/tokens', body: content });
  if (holdsSecret) answerSecret(ctx, made);
  else answerHtml(ctx, made, status);
}

/** Says that changes need a newer login, and links to it. */
export function loginAgainNotice({ ctx }: Visit, { loginAgain, site }: Console): Html {
  const to = `${site.base}${ctx.path}`;
  return html`<div class="notice">
    <p>Your login is older than an hour. To make or revoke a token or a channel, log in again.</p>
    ${
      loginAgain === undefined
        ? html`<p>Restart Runledger: it prints a new link. Behind a proxy, log in there.</p>`
        : html`<a class="button" href="${site.base}${loginAgain}?to=${encodeURIComponent(to)}">Log in again</a>`
    }
  </div>`;
}
