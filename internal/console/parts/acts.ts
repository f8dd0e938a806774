import { mutedUntil } from '../../expectation/mute.ts';
import { Schedules } from '../../expectation/schedules.ts';
import { html, type Html } from '../../kit/html/html.ts';
import type { Acknowledgement, Act } from '../../record/acts.ts';
import type { NameOfAutomation } from '../names.ts';
import type { Site } from '../site.ts';
import type { Visit } from '../visit.ts';
import { shortenId } from './format.ts';
import { automationLink } from './ids.ts';
import { icon } from './marks.ts';
import { age } from './time.ts';

type Place = Pick<Visit, 'organization' | 'now' | 'zone'>;

/** When a mute that holds now will end, in ms; undefined while it does not hold. */
export function heldUntil({ at, until, window }: Act, now: number): number | undefined {
  const untilAt = until === null ? undefined : Date.parse(until);
  return mutedUntil({ madeAt: Date.parse(at), untilAt, window: window ?? undefined }, now, new Schedules());
}

/** Mutes that hold now, for the whole organization or for one automation. */
export function muteNotice(mutes: readonly Act[], place: Place, site: Site, nameOf: NameOfAutomation): Html | false {
  const holding = mutes.filter((mute) => heldUntil(mute, place.now) !== undefined);
  if (holding.length === 0) return false;
  return html`<section class="card" aria-labelledby="muted-title">
    <header>
      <h2 id="muted-title">Muted: nobody is told</h2>
      <a class="quiet" href="${site.of(place.organization, 'mutes')}">all mutes</a>
    </header>
    <ul class="list mutes">
      ${holding.map((mute) => html`<li>${muteWords(mute, place, site, nameOf)}</li>`)}
    </ul>
  </section>`;
}

/** What is muted, when, by whom and why. */
export function muteWords(mute: Act, { organization, now, zone }: Place, site: Site, nameOf: NameOfAutomation): Html {
  const { automation, by, at, note, until, window } = mute;
  const held = heldUntil(mute, now);
  const subject =
    automation === null
      ? html`<strong>All of ${organization}</strong>`
      : automationLink(site.automation(organization, automation), automation, nameOf(automation));
  return html`${icon('muted')} ${subject}
    <span>
      ${held !== undefined && held < Infinity && html`until ${zone.minute(held)}`}
      ${window !== null && html`<span class="quiet">for ${window.duration} at <code>${window.schedule}</code> (${window.timeZone})${until !== null && html`, until ${zone.minute(Date.parse(until))}`}</span>`}
    </span>
    <span class="reason"><bdi>${note}</bdi></span> <span class="quiet">by <bdi>${by}</bdi> ${age(at, now)}</span>`;
}

/** Who has acknowledged an alert. */
export function acknowledgedBy({ by, at, note }: Acknowledgement, now: number): Html {
  return html`<span class="acknowledged"
    >${icon('person')}Acknowledged by <bdi>${by}</bdi> ${age(at, now)}${note !== '' && html`: <bdi>${note}</bdi>`}</span
  >`;
}

/** What an owner did, and why. */
export function actWords({ kind, note, as, recorded }: Act): Html {
  const did = {
    mute: 'Muted it',
    unmute: 'Ended a mute',
    acknowledge: 'Acknowledged an alert',
    close: as === 'lost' ? 'Closed the run as lost' : 'Closed the run as ended',
    note: 'Noted',
  }[kind];
  return html`${did}${kind === 'close' && !recorded && html` <span class="quiet">(its events follow)</span>`}${note !== '' && html`: <bdi>${note}</bdi>`}`;
}

/** What owners did about an automation, newest first. */
export function actTable(acts: readonly Act[], { organization, now }: Place, site: Site): Html {
  return html`<ul class="list acts">
    ${acts.map(
      (act) =>
        html`<li>
          <span><bdi>${act.by}</bdi></span> <span class="reason">${actWords(act)}</span>
          ${act.automation !== null && act.execution_id !== null && html`<a class="mono" href="${site.execution(organization, act.automation, act.execution_id)}"><bdi>${shortenId(act.execution_id)}</bdi></a>`}
          ${age(act.at, now)}
        </li>`,
    )}
  </ul>`;
}
