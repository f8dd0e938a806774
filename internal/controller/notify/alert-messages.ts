import { keyOf, labelsOf, openAlert, resolvedAlert, type AlertmanagerAlert } from './alertmanager-alert.ts';
import type { ConsoleLinks } from './links.ts';
import type { Labels, ToldAlert } from './told-alerts.ts';

/** A message that an Alertmanager must get now, and the alerts that it is about. */
export interface AlertMessage {
  message: AlertmanagerAlert;
  about: readonly ToldAlert[];
}

/**
 * The messages that an Alertmanager must get: each open alert, and once the end of each alert that
 * it may have as open although it is not. An alert ends there when it is resolved, or when a
 * changed declaration gives it other labels. What the Alertmanager does not know yet comes first.
 */
export function alertMessages(alerts: readonly ToldAlert[], links: ConsoleLinks, now: number): AlertMessage[] {
  const open = groupsOf(alerts, (alert) => (isOpen(alert) ? [labelsOf(alert)] : []));
  const known = groupsOf(alerts, ({ knownAs }) => knownAs);
  const ended = [...known].filter(([key, { about }]) => !open.has(key) && about.every(hasOwnLabels));
  const ends = ended.map(([, { labels, about }]) => ({ message: resolvedAlert(labels, about, links, now), about }));
  const begins = Array.from(open, ([key, { labels, about }]) => ({
    isNew: !known.has(key),
    message: openAlert(labels, about, links, now),
    // Includes ended alerts that it knows under the same labels: this message covers their end.
    about: [...about, ...(known.get(key)?.about ?? []).filter((alert) => !isOpen(alert))],
  }));
  return [...ends, ...begins.toSorted((a, b) => Number(b.isNew) - Number(a.isNew))];
}

/** The labels under which an Alertmanager has an alert as open once it got the message. */
export function knownAfter(alert: ToldAlert): readonly Labels[] {
  const labels = isOpen(alert) ? labelsOf(alert) : undefined;
  return labels === undefined ? [] : [labels];
}

function isOpen({ resolvedAt }: ToldAlert): boolean {
  return resolvedAt === undefined;
}

/** False for an open alert without a declaration: the next tick resolves it. */
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
