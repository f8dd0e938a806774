import type { Blindness } from '../expectation/transition.ts';
import type { ConsoleLinks } from './links.ts';
import type { ToldAlert } from './told-alerts.ts';

/** An alert in the form of Alertmanager's API v2. */
export interface AlertmanagerAlert {
  labels: Record<string, string>;
  annotations: Record<string, string>;
  startsAt: string;
  endsAt: string;
  generatorURL: string;
}

/** An open alert ends when nobody repeats it for so long, in ms. */
const aliveMs = 5 * 60_000;

/** Most sentences of a description. */
const mostSentences = 10;

const runbooks = 'https://github.com/runledger/runledger/blob/main/deploy/runbooks';

/**
 * The alerts of Alertmanager. Alerts of one kind and automation with the same labels are one alert
 * there: it is resolved when all of them are.
 */
export function alertmanagerAlerts(
  alerts: readonly ToldAlert[],
  links: ConsoleLinks,
  now: number,
): AlertmanagerAlert[] {
  const keyOf = ({ organization, automationId, kind, automation }: ToldAlert): string => {
    const { namespace, name, alertLabels } = automation;
    const labels = Object.entries(alertLabels).toSorted(([one], [other]) => (one < other ? -1 : 1));
    return JSON.stringify([organization, automationId, kind, namespace, name, labels]);
  };
  const groups = Map.groupBy(alerts, keyOf);
  return [...groups.values()].flatMap((group) => {
    const open = group.filter(({ resolvedAt }) => resolvedAt === undefined);
    return joined(open.length > 0 ? open : group, links, now);
  });
}

/** The alert that Runledger cannot evaluate expectations; it inhibits those about automations. */
export function blindAlert({ since, reason }: Blindness, links: ConsoleLinks, now: number): AlertmanagerAlert {
  return {
    labels: { alertname: 'RunledgerBlind', severity: 'critical' },
    annotations: {
      summary: 'Runledger cannot evaluate expectations',
      description: reason,
      console: links.start,
      runbook_url: `${runbooks}/RunledgerBlind.md`,
    },
    ...times([since], [now + aliveMs], now),
    generatorURL: links.start,
  };
}

/** Alerts of one automation and kind, all open or all resolved, as one; none without any. */
function joined(alerts: readonly ToldAlert[], links: ConsoleLinks, now: number): AlertmanagerAlert[] {
  const [first] = alerts;
  if (first === undefined) return [];
  const { organization, automationId, kind, automation } = first;
  const name = `${automation.namespace}/${automation.name}`;
  const page = links.automation(organization, automationId);
  const alertname = `Automation${kind.slice(0, 1).toUpperCase()}${kind.slice(1)}`;
  const ends = alerts.map(({ resolvedAt }) => resolvedAt ?? now + aliveMs);
  return [
    {
      labels: { ...automation.alertLabels, alertname, organization, automation: name },
      annotations: {
        summary: `${automation.displayName === '' ? name : automation.displayName} is ${kind}`,
        description: sentencesOf(alerts),
        expected: automation.expected,
        console: page,
        ...linksOf(automation.links),
      },
      ...times(
        alerts.map(({ openedAt }) => openedAt),
        ends,
        now,
      ),
      generatorURL: page,
    },
  ];
}

/** Alertmanager refuses an alert that ends before it starts; clocks differ. */
function times(starts: number[], ends: number[], now: number): Pick<AlertmanagerAlert, 'startsAt' | 'endsAt'> {
  const startsAt = Math.min(now, ...starts);
  const endsAt = Math.max(startsAt, ...ends);
  return { startsAt: new Date(startsAt).toISOString(), endsAt: new Date(endsAt).toISOString() };
}

function sentencesOf(alerts: readonly ToldAlert[]): string {
  const sentences = alerts.map(({ reason, resolvedReason }) => resolvedReason ?? reason);
  const more = sentences.length - mostSentences;
  return [...sentences.slice(0, mostSentences), ...(more > 0 ? [`And ${more} more.`] : [])].join('\n');
}

/** The automation's links, and the one to its runbook where rules of Prometheus have theirs. */
function linksOf(links: ToldAlert['automation']['links']): Record<string, string> {
  const runbook = links.find(({ title }) => /runbook/i.test(title));
  const lines = links.map(({ title, url }) => `${title}: ${url}`).join('\n');
  return { ...(runbook !== undefined && { runbook_url: runbook.url }), ...(lines !== '' && { links: lines }) };
}
