import { keyOf, labelsOf, openAlert, resolvedAlert, type AlertmanagerAlert } from './alertmanager-alert.ts';
import type { ConsoleLinks } from './links.ts';
import type { Labels, ToldAlert } from './told-alerts.ts';

/** What an Alertmanager must hear now, and about which alerts. */
export interface AlertMessage {
  message: AlertmanagerAlert;
  about: readonly ToldAlert[];
}

/**
 * What an Alertmanager must hear: each alert that is open, and once the end of each that it may
 * know as open and that is not. That is so when its alerts are resolved, or have other labels
 * because their declaration has changed. What it does not know yet comes first.
 */
export function alertMessages(alerts: readonly ToldAlert[], links: ConsoleLinks, now: number): AlertMessage[] {
  const open = groupsOf(alerts, (alert) => (isOpen(alert) ? [labelsOf(alert)] : []));
  const known = groupsOf(alerts, ({ knownAs }) => knownAs);
  const ended = [...known].filter(([key, { about }]) => !open.has(key) && about.every(hasOwnLabels));
  const ends = ended.map(([, { labels, about }]) => ({ message: resolvedAlert(labels, about, links, now), about }));
  const begins = Array.from(open, ([key, { labels, about }]) => ({
    isNew: !known.has(key),
    message: openAlert(labels, about, links, now),
    // With them, those that it knows under the same labels and that are over: their end is told.
    about: [...about, ...(known.get(key)?.about ?? []).filter((alert) => !isOpen(alert))],
  }));
  return [...ends, ...begins.toSorted((a, b) => Number(b.isNew) - Number(a.isNew))];
}

/** The labels under which an Alertmanager knows an alert as open once it has heard about it. */
export function knownAfter(alert: ToldAlert): readonly Labels[] {
  const labels = isOpen(alert) ? labelsOf(alert) : undefined;
  return labels === undefined ? [] : [labels];
}

function isOpen({ resolvedAt }: ToldAlert): boolean {
  return resolvedAt === undefined;
}

/** False for an open alert without its declaration: the next tick resolves it. */
function hasOwnLabels(alert: ToldAlert): boolean {
  return !isOpen(alert) || alert.automation !== undefined;
}

function groupsOf(alerts: readonly ToldAlert[], labelsOfAlert: (alert: ToldAlert) => readonly (Labels | undefined)[]) {
  const groups = new Map<string, { labels: Labels; about: ToldAlert[] }>();
  for (const alert of alerts) {
    for (const labels of labelsOfAlert(alert)) {
      if (labels === undefined) continue;
      const key = keyOf(labels);
      const group = groups.get(key) ?? { labels, about: [] };
      group.about.push(alert);
      groups.set(key, group);
    }
  }
  return groups;
}
