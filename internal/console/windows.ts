import { oneOf } from '../readapi/parameters.ts';
import { beginOfStep, type Steps } from '../record/count-executions.ts';
import type { PageZone } from './page-zone.ts';

const hour = 3_600_000;
const day = 24 * hour;

/** The windows that screens offer, with the step of their charts. */
export const windows = {
  '24h': { words: 'Last 24 hours', ms: day, stepMs: hour },
  '7d': { words: 'Last 7 days', ms: 7 * day, stepMs: 6 * hour },
  '30d': { words: 'Last 30 days', ms: 30 * day, stepMs: day },
  '365d': { words: 'Last 365 days', ms: 365 * day, stepMs: day },
} as const;

/** The windows of one automation; those of a whole organization end at a month. */
export type AutomationWindow = keyof typeof windows;
export type WindowName = Exclude<AutomationWindow, '365d'>;

export const automationWindows = Object.keys(windows) as AutomationWindow[];
export const windowNames: readonly WindowName[] = ['24h', '7d', '30d'];

/** The parameter `window` of a screen. */
export const windowParameter = { window: oneOf(windowNames) } as const;

/**
 * The window up to now, the same on every page. It starts at a step boundary in the zone, so every
 * bar except the last covers a whole step.
 */
export function stepsOf(name: AutomationWindow, now: number, zone: PageZone): Steps {
  const { ms, stepMs } = windows[name];
  const offsetMs = zone.offsetOf(now);
  const end = beginOfStep(now + stepMs - 1, { stepMs, offsetMs });
  return { from: new Date(end - ms), to: new Date(Math.max(now, end)), stepMs, offsetMs };
}

/** The starts of all steps, in ms. */
export function beginsOf({ from, to, stepMs }: Steps): number[] {
  const count = Math.ceil((to.getTime() - from.getTime()) / stepMs);
  return Array.from({ length: count }, (_, index) => from.getTime() + index * stepMs);
}
