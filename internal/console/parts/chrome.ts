import { html, type Html } from '../../kit/html/html.ts';
import type { Site } from '../site.ts';
import type { Viewer } from '../viewer.ts';
import { icon } from './marks.ts';

/** Who is logged in, the choices of this browser, and the way out. */
export function viewerMenu(site: Site, { name }: Viewer): Html {
  return html`<details class="menu">
    <summary aria-label="Menu of ${name}">${icon('person')}</summary>
    <div class="panel">
      <p class="viewer"><bdi>${name}</bdi></p>
      ${choice('zone', 'Times', [
        ['local', 'Local'],
        ['utc', 'UTC'],
      ])}
      ${choice('theme', 'Colours', [
        ['system', 'System'],
        ['light', 'Light'],
        ['dark', 'Dark'],
      ])}
      <button type="button" class="plain" data-keys>Keyboard shortcuts <kbd>?</kbd></button>
      <form method="post" action="${site.base}/logout"><button class="plain">Log out</button></form>
      <form method="post" action="${site.base}/logout-everywhere">
        <button class="plain">Log out everywhere</button>
      </form>
    </div>
  </details>`;
}

/** A choice that the script keeps in this browser. */
function choice(name: string, label: string, options: readonly (readonly [value: string, text: string])[]): Html {
  return html`<fieldset class="choice">
    <legend>${label}</legend>
    ${options.map(
      ([value, text]) =>
        html`<label><input type="radio" name="${name}" value="${value}" data-choice /><span>${text}</span></label>`,
    )}
  </fieldset>`;
}

const keys = [
  ['/', 'Search executions'],
  ['j', 'Next row'],
  ['k', 'Previous row'],
  ['Enter', 'Open the row'],
  ['n', 'Show new rows'],
  ['g o', 'Go to Overview'],
  ['g a', 'Go to Automations'],
  ['g e', 'Go to Executions'],
  ['g r', 'Go to Errors'],
  ['g l', 'Go to Alerts'],
  ['g t', 'Go to Tail'],
  ['?', 'This list'],
  ['Esc', 'Close, or leave a field'],
] as const;

/** The list of keyboard shortcuts; the script opens it. */
export function keysDialog(): Html {
  return html`<dialog id="keys" aria-labelledby="keys-title">
    <h2 id="keys-title">Keyboard shortcuts</h2>
    <dl>
      ${keys.map(
        ([key, meaning]) =>
          html`<div>
            <dt>${key.split(' ').map((part) => html`<kbd>${part}</kbd> `)}</dt>
            <dd>${meaning}</dd>
          </div>`,
      )}
    </dl>
    <form method="dialog"><button>Close</button></form>
  </dialog>`;
}

/** Shown by the script when the session ends while a page is open. The page keeps its content. */
export function sessionEnded(site: Site): Html {
  return html`<div id="session-ended" class="notice" role="alert" hidden>
    <p>Your session has ended. This page no longer changes.</p>
    <a class="button" data-login href="${site.base}/login">Log in again</a>
  </div>`;
}
