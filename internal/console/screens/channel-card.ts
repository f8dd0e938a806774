import { html, type Html } from '../../kit/html/html.ts';
import type { ChannelState } from '../../record/delivery.ts';
import { icon } from '../parts/marks.ts';
import { age } from '../parts/time.ts';
import type { Site } from '../site.ts';
import type { Visit } from '../visit.ts';

const words = {
  sent: 'The test is on its way: see the newest deliveries.',
  waiting: 'A test of this channel is already waiting.',
  gone: 'There is no such channel any more.',
} as const;

/** The channels of the organization, each with a button that sends a test. */
export function channelCard(
  channels: readonly ChannelState[],
  test: keyof typeof words | undefined,
  { organization, now }: Visit,
  site: Site,
): Html {
  return html`<section class="card" aria-labelledby="channels-title">
    <header><h2 id="channels-title">Channels</h2></header>
    ${test !== undefined && html`<p class="fine" role="status">${words[test]}</p>`}
    <ul class="list channels">
      ${channels.map(({ namespace, name, host, kinds, failing_since }) => {
        const action = site.of(
          organization,
          `channels/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}/test`,
        );
        return html`<li>
          <strong><bdi>${namespace}/${name}</bdi></strong>
          <span class="quiet"
            ><bdi>${host}</bdi>, ${kinds.length === 0 ? 'all kinds about automations' : kinds.join(', ')}</span
          >
          ${
            failing_since === null
              ? html`<span class="state succeeded">${icon('succeeded')}<span>Accepts</span></span>`
              : html`<span class="state failed"
                  >${icon('failed')}<span>Failing since ${age(failing_since, now)}</span></span
                >`
          }
          <form method="post" action="${action}">
            <button class="button" aria-label="Send a test to ${name}">Send a test</button>
          </form>
        </li>`;
      })}
    </ul>
  </section>`;
}
