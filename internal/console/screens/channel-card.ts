import { html, type Html } from '../../kit/html/html.ts';
import type { ChannelState } from '../../record/delivery.ts';
import { shownChannel } from '../parts/history.ts';
import { icon } from '../parts/marks.ts';
import { age } from '../parts/time.ts';
import type { Site } from '../site.ts';
import type { Visit } from '../visit.ts';

const words = {
  sent: 'The test is on its way: see the newest deliveries.',
  waiting: 'A test of this channel is already waiting.',
  gone: 'There is no such channel any more.',
} as const;

/** What each type of channel is called. */
export const typeNames: Record<string, string> = {
  webhook: 'Webhook',
  email: 'Mail',
  slack: 'Slack',
  teams: 'Microsoft Teams',
  googlechat: 'Google Chat',
  discord: 'Discord',
  ntfy: 'ntfy',
  alertmanager: 'On-call',
};

type Place = Pick<Visit, 'organization' | 'now'>;

/** The channels of the organization, each with a button that sends a test. */
export function channelCard(
  channels: readonly ChannelState[],
  test: keyof typeof words | undefined,
  visit: Place,
  site: Site,
): Html {
  return html`<section class="card" aria-labelledby="channels-title">
    <header><h2 id="channels-title">Channels</h2></header>
    ${channelList(channels, test, visit, site)}
  </section>`;
}

/** @param more a further button of a channel. */
export function channelList(
  channels: readonly ChannelState[],
  test: keyof typeof words | undefined,
  { organization, now }: Place,
  site: Site,
  more: (channel: ChannelState) => Html | false = () => false,
): Html {
  return html`${test !== undefined && html`<p class="fine" role="status">${words[test]}</p>`}
    <ul class="list channels">
      ${channels.map((channel) => {
        const { namespace, name, type, to, kinds, failing_since } = channel;
        const shown = shownChannel(`${namespace}/${name}`);
        const action = site.of(
          organization,
          `channels/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}/test`,
        );
        return html`<li>
          <strong><bdi>${shown}</bdi></strong>
          <span class="quiet"
            >${typeNames[type] ?? type}${to !== '' && html` to <bdi>${to}</bdi>`}:
            ${kinds.length === 0 ? 'everything about automations' : kinds.join(', ')}</span
          >
          ${type === 'alertmanager' ? html`<span></span>` : stateOf(failing_since, now)}
          <span class="actions">
            <form method="post" action="${action}">
              <button class="button" aria-label="Send a test to ${type === 'alertmanager' ? shown : name}">
                Send a test
              </button>
            </form>
            ${more(channel)}
          </span>
        </li>`;
      })}
    </ul>`;
}

function stateOf(failingSince: string | null, now: number): Html {
  const icons = failingSince === null ? 'succeeded' : 'failed';
  const words = failingSince === null ? 'Accepts' : html`Failing since ${age(failingSince, now)}`;
  return html`<span class="state ${icons}">${icon(icons)}<span>${words}</span></span>`;
}
