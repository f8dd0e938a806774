import { html, type Html } from '../../kit/html/html.ts';
import { age, exactTime } from '../parts/time.ts';
import type { Site } from '../site.ts';
import type { Visit } from '../visit.ts';
import type { ExecutionView } from './execution-view.ts';

/**
 * When the last event was sealed, who witnessed it, and its proof; nothing without a log. Only the
 * newest checkpoint of each hour is kept, so the event may have been sealed earlier in that hour.
 */
export function sealedFact({ seal }: ExecutionView, { now, organization }: Visit, site: Site): Html | false {
  if (seal === undefined) return false;
  if (seal.sealedAt === undefined) return fact(html`not yet`);
  const by = seal.cosignedBy.length > 0 && html`, witnessed by ${seal.cosignedBy.join(', ')}`;
  return fact(
    html`${age(seal.sealedAt, now)}<small>${exactTime(seal.sealedAt)} at the latest${by}</small>
      <small><a href="${site.proof(organization, seal.eventId)}" download>Download its proof</a></small>`,
  );
}

function fact(content: Html): Html {
  return html`<div>
    <dt>Last event sealed</dt>
    <dd>${content}</dd>
  </div>`;
}
