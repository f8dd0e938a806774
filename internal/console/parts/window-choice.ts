import { html, type Html } from '../../html/html.ts';
import { windowNames, windows, type WindowName } from '../windows.ts';

/** The windows of a screen as links, so that the address says which one is in view. */
export function windowChoice(current: WindowName, hrefOf: (name: WindowName) => string): Html {
  return html`<nav class="segments right" aria-label="Time range">
    ${windowNames.map(
      (name) =>
        html`<a href="${hrefOf(name)}" title="${windows[name].words}" ${name === current && html`aria-current="true"`}
          >${name}</a
        >`,
    )}
  </nav>`;
}
