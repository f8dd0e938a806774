import { html, type Html } from '../../kit/html/html.ts';
import { shortenId, shortenUuid } from './format.ts';
import { icon } from './marks.ts';

/** A button that copies a text. */
export function copyButton(text: string, what: string): Html {
  return html`<button type="button" class="copy" data-copy="${text}" aria-label="Copy ${what}">
    ${icon('copy')}
  </button>`;
}

/** The id of an execution as a shortened link. Direction marks in it affect nothing around it. */
export function executionLink(href: string, id: string, longest?: number): Html {
  return html`<a class="row-link mono" href="${href}" title="${id}"><bdi>${shortenId(id, longest)}</bdi></a>`;
}

/** An automation as a link: its name, or else its shortened id. The full text appears on hover. */
export function automationLink(href: string, id: string, name?: string, className = ''): Html {
  const words = name === undefined ? shortenUuid(id) : html`<bdi>${name}</bdi>`;
  const whole = name === undefined ? id : `${name} (${id})`;
  return html`<a class="name ${className} ${name === undefined && 'mono'}" href="${href}" title="${whole}"
    >${words}</a
  >`;
}
