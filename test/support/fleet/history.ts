import { hash } from 'node:crypto';
import { fleet, type FleetMember } from '../../../cmd/demo/names.ts';
import type { AcceptedEvent } from '../../../internal/event/event.ts';
import { anEvent } from '../events.ts';
import { failureOf, progressOf } from './texts.ts';

const minute = 60_000;

/** A member with the id that it always has, so that tests can name it. */
export interface Automation extends FleetMember {
  id: string;
}

/** The id of a member: the same in each run. */
function idOf({ organization, name = '' }: FleetMember, index: number): string {
  const digest = hash('sha256', `${organization} ${name} ${index}`);
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-4${digest.slice(13, 16)}-9${digest.slice(17, 20)}-${digest.slice(20, 32)}`;
}

/** The fleet with its ids. */
export const automations: readonly Automation[] = fleet.map((member, index) => ({
  ...member,
  id: idOf(member, index),
}));

/** The automation with a name. */
export function named(name: string): Automation {
  const found = automations.find((automation) => automation.name === name);
  if (found === undefined) throw new Error(`the fleet has no ${name}`);
  return found;
}

/** Numbers from 0 to 1 that are the same in each run (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** The events of an automation's runs between two times, in ms. */
export function historyOf(automation: Automation, from: number, to: number, seed: number): AcceptedEvent[] {
  const random = randomFrom(seed);
  const { every } = automation;
  const events: AcceptedEvent[] = [];
  // Fleets start their runs at round times, with a few seconds of delay.
  const first = Math.ceil(from / (every * minute)) * every * minute + ((seed * 7) % 50) * minute;
  for (let at = first, number = 0; at < to; at += every * minute, number += 1) {
    events.push(...runOf(automation, at + random() * 40_000, number, random));
  }
  return events.filter(({ createdAt }) => createdAt <= to);
}

/** What one run reports. Jobs and lineage say when it happened, a little before it is accepted. */
function runOf(automation: Automation, begin: number, number: number, random: () => number): AcceptedEvent[] {
  const { organization, id, lasts, failing, warning, endless, from } = automation;
  const executionId = executionIdOf(automation, begin, number);
  const length = lasts * 1_000 * (0.75 + random() * 0.5 + (random() > 0.97 ? 2.5 : 0));
  const steps = from === 'jobs' ? 0 : 1 + Math.floor(random() * 4);
  const fails = random() < failing;
  const ends = fails || random() >= endless;
  const lag = from === 'calls' ? undefined : Math.round(200 + random() * 4_000);
  const event = (share: number, kind: AcceptedEvent['kind'], more: Partial<AcceptedEvent> = {}): AcceptedEvent => {
    const occurredAt = Math.round(begin + share * length);
    const times = lag === undefined ? { createdAt: occurredAt } : { occurredAt, createdAt: occurredAt + lag };
    return anEvent({ organization, automationId: id, executionId, kind, ...more, ...times });
  };
  return [
    event(0, 'START', { description: progressOf(random(), 'START') }),
    ...Array.from({ length: steps }, (_, step) =>
      event((step + 1) / (steps + 2), 'EVENT', { description: progressOf(random(), 'EVENT') }),
    ),
    ...(random() < warning ? [event(0.8, 'WARNING', { description: progressOf(random(), 'WARNING') })] : []),
    ...(fails ? [event(0.95, 'ERROR', failureOf(random()))] : []),
    ...(ends ? [event(1, 'END', { description: fails ? '' : progressOf(random(), 'END') })] : []),
  ];
}

/** Ids as each kind of caller makes them. */
function executionIdOf({ from, name = 'run' }: Automation, begin: number, number: number): string {
  const time = new Date(begin).toISOString();
  const digest = hash('sha256', `${name} ${number}`);
  if (from === 'lineage')
    return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-7${digest.slice(13, 16)}-8${digest.slice(17, 20)}-${digest.slice(20, 32)}`;
  if (from === 'tekton') return `${name.split('/').at(-1)}-${digest.slice(0, 5)}`;
  if (from === 'jobs') return `${name.split('/').at(-1)}-${Math.round(begin / 60_000)}`;
  if (from === 'exec') return `${time}-host-${1 + (number % 4)}.eu-south-2.compute.internal-${digest.slice(0, 8)}`;
  return `${time.slice(0, 19)}Z-${number + 1}`;
}
