import type { Context } from '../intake/http/page-route.ts';
import { answerHtml } from '../kit/html/answer-html.ts';
import { html, type Html } from '../kit/html/html.ts';
import type { Viewer } from './viewer.ts';
import type { Console } from './visit.ts';

/** Leads to the only organization of a viewer, or offers a choice. */
export function home(ctx: Context, viewer: Viewer, { site, page }: Console): void {
  const [only, ...others] = viewer.organizations;
  if (only !== undefined && others.length === 0) return ctx.redirect(site.of(only));
  const list = html`<ul class="choices">
    ${viewer.organizations.toSorted().map((name) => html`<li><a class="row-link" href="${site.of(name)}">${name}</a></li>`)}
  </ul>`;
  const body = html`<div class="narrow">
    <h1>Organizations</h1>
    ${viewer.organizations.length === 0 ? noOrganization() : list}
  </div>`;
  return answerHtml(ctx, page({ title: 'Organizations', viewer, body }));
}

function noOrganization(): Html {
  return html`<div class="empty">
    <h2>You may see no organization yet</h2>
    <p>You are logged in, but none of your groups belongs to an organization. Ask the people who run Runledger.</p>
  </div>`;
}
