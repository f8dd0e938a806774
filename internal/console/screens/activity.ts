import { html } from '../../kit/html/html.ts';
import { recordedTime, wholeNumber } from '../../readapi/parameters.ts';
import { readQuery } from '../../readapi/query.ts';
import { exactTime } from '../parts/time.ts';
import type { Screen } from '../visit.ts';
import { answerSettings } from './settings.ts';

/** Entries per page. */
const listed = 100;

/** The organization's access log: who looked at it, and who changed what. */
export const activity: Screen = {
  path: '/settings/activity',
  owner: true,
  answer: async (visit, console) => {
    const { at, id } = readQuery(visit.ctx, { at: recordedTime, id: wholeNumber(0, 999_999_999_999_999) });
    const before = at === undefined || id === undefined ? undefined : { at: new Date(at), id: String(id) };
    const entries = await console.listActivity(visit.organization, listed, before);
    const last = entries.length < listed ? undefined : entries.at(-1);
    const body = html`<div class="card">
        ${
          entries.length === 0
            ? html`<div class="empty">
                <h2>Nothing has happened yet</h2>
                <p>Everybody who looks at ${visit.organization} or changes something appears here within a second.</p>
              </div>`
            : html`<table class="rows activity">
                <thead>
                  <tr>
                    <th scope="col">When</th>
                    <th scope="col">Who</th>
                    <th scope="col">What</th>
                    <th scope="col">Address</th>
                  </tr>
                </thead>
                <tbody>
                  ${entries.map(
                    ({ at: when, name, action, detail, address, requests }) =>
                      html`<tr>
                        <td>${exactTime(when.toISOString())}</td>
                        <td><bdi>${name === '' ? 'unknown' : name}</bdi></td>
                        <td>
                          ${action}
                          <bdi>${detail}</bdi> ${requests > 1 && html`<span class="quiet">${requests} times</span>`}
                        </td>
                        <td class="mono">${address}</td>
                      </tr>`,
                  )}
                </tbody>
              </table>`
        }
      </div>
      ${
        last !== undefined &&
        html`<p class="actions">
          <a
            class="button"
            href="${console.site.of(visit.organization, 'settings/activity', { at: last.at.toISOString(), id: last.id })}"
            >Older</a
          >
        </p>`
      }`;
    answerSettings(visit, console, { title: 'Activity', path: 'settings/activity', body });
  },
};
