import { oneOf } from '../api/read/parameters.ts';
import type { Steps } from '../record/count-executions.ts';

const hour = 3_600_000;

/** The windows that screens offer, and the step of their charts. */
export const windows = {
  '24h': { words: 'Last 24 hours', ms: 24 * hour, stepMs: hour },
  '7d': { words: 'Last 7 days', ms: 7 * 24 * hour, stepMs: 6 * hour },
  '30d': { words: 'Last 30 days', ms: 30 * 24 * hour, stepMs: 24 * hour },
} as const;

export type WindowName = keyof typeof windows;

export const windowNames = Object.keys(windows) as WindowName[];

/** The parameter `window` of a screen. */
export const windowParameter = { window: oneOf(windowNames) } as const;

/** The window up to now. It begins with a whole step, so that every bar but the last is whole. */
export function stepsOf(name: WindowName, now: number): Steps {
  const { ms, stepMs } = windows[name];
  const end = Math.ceil(now / stepMs) * stepMs;
  return { from: new Date(end - ms), to: new Date(Math.max(now, end)), stepMs };
}

/** The begins of all steps, in ms. */
export function beginsOf({ from, to, stepMs }: Steps): number[] {
  const count = Math.ceil((to.getTime() - from.getTime()) / stepMs);
  return Array.from({ length: count }, (_, index) => from.getTime() + index * stepMs);
}
