import { html, type Html } from '../../kit/html/html.ts';
import { errorText } from '../parts/error-text.ts';
import { count, formatNumber } from '../parts/format.ts';
import { copyButton } from '../parts/ids.ts';
import { icon } from '../parts/marks.ts';
import { happened } from '../parts/time.ts';
import type { Site } from '../site.ts';
import type { Visit } from '../visit.ts';
import { sumOf } from './execution-row.ts';
import type { ExecutionView } from './execution-view.ts';
import { positionText } from './timeline-query.ts';

/** The first error of an execution, above everything else, with a link to its place. */
export function firstError({ execution, errors, events }: ExecutionView, visit: Visit, site: Site): Html | false {
  const [error] = errors.items;
  if (error === undefined) return false;
  const { automation, execution_id, counts } = execution;
  const { description, error_id, error_description_detail: detail } = error;
  const alike = site.of(visit.organization, 'executions', { error_id, automation_id: automation });
  const address = site.execution(visit.organization, automation, execution_id);
  const isHere = events.items.some(({ id }) => id === error.id);
  const place = `${isHere ? '' : `${address}?around=${encodeURIComponent(positionText(error))}`}#t-${error.id}`;
  const others = counts.ERROR - 1;
  return html`<section class="card failure" id="e-${error.id}" aria-label="First error">
    <header>
      <h2>
        ${icon('failed')}${error_id === '' ? 'Error' : html`<a href="${alike}" title="All executions with this error: ${error_id}"><bdi>${error_id}</bdi></a>`}
      </h2>
      ${happened(error)}
    </header>
    ${description !== '' && html`<p class="text"><bdi>${description}</bdi></p>`}
    ${detail !== '' && html`<div class="command">${errorText(detail)} ${copyButton(detail, 'the text of the error')}</div>`}
    <p class="places">
      <a href="${place}"
        >Event ${formatNumber(errors.before.all + 1)} of ${formatNumber(sumOf(counts))} in the timeline</a
      >
      ${others > 0 && html`<a href="${address}?kind=ERROR#timeline-title">and ${count(others, 'more error')}</a>`}
    </p>
  </section>`;
}
