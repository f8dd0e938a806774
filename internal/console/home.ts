import type { Context } from '../intake/http/page-route.ts';
import { answerHtml } from '../kit/html/answer-html.ts';
import { html, type Html } from '../kit/html/html.ts';
import { RequestError } from '../kit/errors/request-error.ts';
import { field, malformed } from './forms.ts';
import type { Site } from './site.ts';
import { isOrganizationName, type Viewer } from './viewer.ts';
import type { Console } from './visit.ts';

/** Redirects to the viewer's only organization, or offers a choice. */
export function home(ctx: Context, viewer: Viewer, { site, page }: Console): void {
  const [only, ...others] = viewer.organizations;
  if (only !== undefined && others.length === 0 && viewer.administers !== true) return ctx.redirect(site.of(only));
  const list = html`<ul class="choices">
    ${viewer.organizations.toSorted().map((name) => html`<li><a class="row-link" href="${site.of(name)}">${name}</a></li>`)}
  </ul>`;
  const body = html`<div class="narrow">
    <h1>Organizations</h1>
    ${viewer.organizations.length === 0 && viewer.administers !== true ? noOrganization() : list}
    ${viewer.administers === true && newOrganization(site)}
  </div>`;
  return answerHtml(ctx, page({ title: 'Organizations', viewer, body }));
}

/** An organization exists once it has a token: the form leads to the page that creates one. */
function newOrganization({ base }: Site): Html {
  return html`<form class="card padded fields" action="${base}/organizations">
    <h2>Create an organization</h2>
    ${field('Name', html`<input name="name" required maxlength="63" autocomplete="off" />`, 'Letters, digits, “-”, “_” and “.”. Its first token creates it.')}
    <button class="primary">Go on</button>
  </form>`;
}

/** Redirects those who administer all organizations to the page of a new one. */
export function createOrganization(ctx: Context, viewer: Viewer, { site }: Console): void {
  const name = new URLSearchParams(ctx.querystring).get('name')?.trim() ?? '';
  if (viewer.administers !== true) {
    throw new RequestError('insufficient-scope', 'Only owners of all organizations may create one.');
  }
  if (!isOrganizationName(name)) {
    throw malformed(
      'A name has up to 63 letters, digits, “-”, “_” or “.”, and begins and ends with a letter or digit.',
    );
  }
  ctx.redirect(site.of(name, 'settings/tokens'));
}

function noOrganization(): Html {
  return html`<div class="empty">
    <h2>You may see no organization yet</h2>
    <p>You are logged in, but none of your groups belongs to an organization. Ask the people who run Runledger.</p>
  </div>`;
}
