import { html, type Html } from '../../kit/html/html.ts';
import { windows, type AutomationWindow } from '../windows.ts';

/** The windows of a screen as links, so that the address names the one in view. */
export function windowChoice<Name extends AutomationWindow>(
  names: readonly Name[],
  current: Name,
  hrefOf: (name: Name) => string,
): Html {
  return html`<nav class="segments right" aria-label="Time range">
    ${names.map(
      (name) =>
        html`<a href="${hrefOf(name)}" title="${windows[name].words}" ${name === current && html`aria-current="true"`}
          >${name}</a
        >`,
    )}
  </nav>`;
}
