import { problemOf, type Problem } from '../intake/http/problem.ts';
import type { Context, ShowError } from '../intake/http/page-route.ts';
import { answerHtml } from '../kit/html/answer-html.ts';
import { html, type Html } from '../kit/html/html.ts';
import type { MakePage } from './layout.ts';
import { nothingHere } from './path-ids.ts';
import type { Site } from './site.ts';
import type { Viewer } from './viewer.ts';
import { wantsPart } from './visit.ts';

interface VisitState {
  viewer?: Viewer;
  organization?: string;
}

/** Shows errors to browsers. API requests and scripts get problem documents. */
export function showErrorOf(site: Site, page: MakePage): ShowError {
  return (ctx, error) => {
    if (/^\/(v1|static)(\/|$)/.test(ctx.path) || ctx.accepts('json', 'html') !== 'html') return false;
    const problem = problemOf(error);
    const { viewer, organization } = ctx.state as VisitState;
    if (problem.status === 503) ctx.set('Retry-After', '5');
    if (wantsPart(ctx)) {
      answerHtml(ctx, failedPart(ctx, problem), problem.status);
      return true;
    }
    const body = errorBody(ctx, problem, site, organization);
    answerHtml(ctx, page({ title: problem.title, viewer, organization, body }), problem.status);
    return true;
  };
}

/** Replaces a part of a page. The link repeats the request. */
function failedPart(ctx: Context, { detail, status }: Problem): Html {
  return html`<div class="notice" role="alert">
    <p>${status === 503 ? 'The record cannot be read right now.' : detail}</p>
    <a class="button" href="${ctx.url}" hx-get="${ctx.url}" hx-target="closest .notice" hx-swap="outerHTML"
      >Try again</a
    >
  </div>`;
}

function errorBody(ctx: Context, problem: Problem, site: Site, organization: string | undefined): Html {
  const start = organization === undefined ? `${site.base}/` : site.of(organization);
  const { headline, advice } = words(problem, organization);
  const faults = (problem.errors ?? []).map((fault) => {
    const name = 'parameter' in fault ? fault.parameter : '';
    return html`<li><code>${name}</code> ${fault.detail}</li>`;
  });
  return html`<div class="empty ${problem.status === 503 && 'away'}">
    <p class="code" aria-hidden="true">${problem.status}</p>
    <h1>${headline}</h1>
    <p>${advice}</p>
    ${
      faults.length > 0 &&
      html`<ul class="faults">
        ${faults}
      </ul>`
    }
    <p class="actions">
      ${faults.length > 0 && html`<a class="button primary" href="${ctx.path}">Clear the filters</a>`}
      ${problem.status >= 429 && html`<a class="button primary" href="${ctx.url}">Try again</a>`}
      <a class="button" href="${start}">Go to the start page</a>
    </p>
  </div>`;
}

/** Without an organization, no page handled the request: the detail is for callers of the API. */
function words(
  { status, detail, errors: { length: faults } = [] }: Problem,
  organization: string | undefined,
): { headline: string; advice: string } {
  if (status === 404) {
    const advice = organization === undefined ? nothingHere().message : detail;
    return { headline: 'There is nothing here', advice };
  }
  if (status === 403) return { headline: 'You may not do that', advice: detail };
  if (status === 400 && faults > 0)
    return { headline: 'These filters do not work', advice: 'The address has invalid parameters.' };
  if (status === 400) return { headline: 'That did not work', advice: detail };
  if (status === 429) return { headline: 'Too many requests', advice: detail };
  if (status === 503) {
    const advice = `${detail} Events are still accepted and kept: nothing is lost meanwhile.`;
    return { headline: 'The record cannot be read right now', advice };
  }
  return { headline: 'Something went wrong', advice: detail };
}
