import { answerHtml } from '../../kit/html/answer-html.ts';
import { html, type Html } from '../../kit/html/html.ts';
import { behindOf, type Behind } from '../behind.ts';
import type { PageZone } from '../page-zone.ts';
import { formatDuration } from '../parts/format.ts';
import { icon } from '../parts/marks.ts';
import { age } from '../parts/time.ts';
import type { Console, Screen } from '../visit.ts';

/** The notice above each page, which reloads itself. */
export const blindness: Screen = {
  path: '/blindness',
  answer: async ({ ctx, organization, zone }, console) =>
    answerHtml(ctx, await blindNotice(console, organization, zone)),
};

/** Whether the record of an organization is behind. Also undefined while that cannot be read. */
export async function readBehind(
  { blindness: reads, record }: Console,
  organization: string,
): Promise<Behind | undefined> {
  const known = await reads.get(organization, () => record.getBlindness(organization)).catch(() => undefined);
  return known && behindOf(known);
}

/**
 * Says since when the console has not seen new events, and for which times events are lost. Empty
 * if the record is complete. If the record cannot be read, the page itself says so.
 */
export async function blindNotice(
  { blindness: reads, record, site }: Console,
  organization: string,
  zone: PageZone,
): Promise<Html> {
  const known = await reads.get(organization, () => record.getBlindness(organization)).catch(() => undefined);
  const behind = known && behindOf(known);
  const now = Date.parse(known?.now ?? '');
  const gaps = (known?.gaps ?? []).map(
    ({ from, until }) => html`<li>${zone.second(Date.parse(from))}, for ${formatDuration(lengthOf(from, until))}</li>`,
  );
  return html`<div
    id="blindness"
    hx-get="${site.of(organization, 'blindness')}"
    hx-trigger="every 15s"
    hx-swap="outerMorph"
    ${behind && html`data-behind`}
  >
    ${
      behind &&
      html`<div class="notice" role="alert">
        <p>
          ${icon('warning')} <strong>Runledger is behind by ${formatDuration(now - Date.parse(behind.since))}.</strong>
          ${behind.reason} What happened after ${zone.second(Date.parse(behind.since))} (${age(behind.since, now)}) may
          be missing on this page.
        </p>
      </div>`
    }
    ${
      gaps.length > 0 &&
      html`<details class="notice quiet-notice">
        <summary>Events of the last day may be missing: ingest took none for a while</summary>
        <ul>
          ${gaps}
        </ul>
      </details>`
    }
  </div>`;
}

function lengthOf(from: string, until: string): number {
  return Date.parse(until) - Date.parse(from);
}
