import type { Blindness } from '../../expectation/transition.ts';
import type { ConsoleLinks } from './links.ts';
import type { Labels, ToldAlert } from './told-alerts.ts';
import { summaries } from './told-message.ts';

/** An alert in the form of Alertmanager's API v2. */
export interface AlertmanagerAlert {
  labels: Labels;
  annotations: Record<string, string>;
  startsAt: string;
  endsAt: string;
  generatorURL: string;
}

/**
 * How long Alertmanager keeps an open alert that nobody repeats, in ms. Only a verdict should
 * resolve an alert, so this is longer than a controller may be down.
 */
const aliveMs = 3 * 86_400_000;

/** How long the alert of a test is open, in ms: longer than Alertmanagers wait for a group. */
const testMs = 300_000;

/** Maximum number of sentences in a description. */
const mostSentences = 10;

const runbooks = 'https://github.com/runledger/runledger/blob/main/docs/operate/runbooks';

/** The identity of an alert in Alertmanager. */
export function keyOf(labels: Labels): string {
  return JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * The labels of an alert; undefined if its automation is not declared. Alerts of the same kind and
 * automation share their labels, so they are one alert in Alertmanager.
 */
export function labelsOf({ automation, organization, kind }: ToldAlert): Labels | undefined {
  if (automation === undefined) return undefined;
  const alertname = `Automation${kind.slice(0, 1).toUpperCase()}${kind.slice(1)}`;
  const name = `${automation.namespace}/${automation.name}`;
  return { ...automation.alertLabels, alertname, organization, automation: name };
}

/** An open alert for Alertmanager, made of all open alerts with its labels. */
export function openAlert(labels: Labels, alerts: readonly ToldAlert[], links: ConsoleLinks, now: number) {
  return alertOf(labels, alerts, links, { now, endsAt: now + aliveMs });
}

/** The end of an alert for Alertmanager, made of the alerts that it stands for. */
export function resolvedAlert(labels: Labels, alerts: readonly ToldAlert[], links: ConsoleLinks, now: number) {
  const endsAt = Math.min(now, Math.max(...alerts.map(({ resolvedAt }) => resolvedAt ?? now)));
  return alertOf(labels, alerts, links, { now, endsAt });
}

/**
 * The alert that Runledger cannot evaluate expectations, which inhibits alerts about automations.
 * @param database its name, if there are several.
 */
export function blindAlert(
  blindness: Blindness | undefined,
  links: ConsoleLinks,
  { now, database }: { now: number; database: string | undefined },
): AlertmanagerAlert {
  const endsAt = blindness === undefined ? now : now + aliveMs;
  return {
    labels: {
      alertname: 'RunledgerBlind',
      severity: 'critical',
      ...(database !== undefined && { database }),
    },
    annotations: {
      summary: 'Runledger cannot evaluate expectations',
      description: blindness?.reason ?? 'Expectations are evaluated again.',
      console: links.start,
      runbook_url: `${runbooks}/RunledgerBlind.md`,
    },
    ...times(blindness?.since ?? now, endsAt, now),
    generatorURL: links.start,
  };
}

/** The alert of a test, which ends by itself. */
export function testAlert(organization: string, links: ConsoleLinks, now: number): AlertmanagerAlert {
  const page = links.organization(organization);
  return {
    labels: { alertname: 'RunledgerTest', organization },
    annotations: {
      summary: 'A test from Runledger',
      description: 'This is a test. Runledger reaches this Alertmanager.',
      console: page,
    },
    ...times(now, now + testMs, now),
    generatorURL: page,
  };
}

function alertOf(
  labels: Labels,
  alerts: readonly ToldAlert[],
  links: ConsoleLinks,
  { now, endsAt }: { now: number; endsAt: number },
): AlertmanagerAlert {
  const [first] = alerts;
  const { organization = '', automationId = '', automation, kind = 'missing' } = first ?? {};
  const page = links.automation(organization, automationId);
  const named =
    automation === undefined || automation.displayName === '' ? labels['automation'] : automation.displayName;
  return {
    labels,
    annotations: {
      summary: `${named} ${summaries[kind]}`,
      description: sentencesOf(alerts),
      ...(automation && { expected: automation.expected, ...linksOf(automation.links) }),
      console: page,
      ...runOf(alerts, links),
    },
    ...times(Math.min(...alerts.map(({ openedAt }) => openedAt)), endsAt, now),
    generatorURL: page,
  };
}

/** Alertmanager refuses an alert that ends before it starts; clocks differ. */
function times(begin: number, end: number, now: number): Pick<AlertmanagerAlert, 'startsAt' | 'endsAt'> {
  const startsAt = Math.min(now, begin);
  return { startsAt: new Date(startsAt).toISOString(), endsAt: new Date(Math.max(startsAt, end)).toISOString() };
}

function sentencesOf(alerts: readonly ToldAlert[]): string {
  const all = alerts.map(({ reason, resolvedReason }) => resolvedReason ?? reason);
  const more = all.length - mostSentences;
  return [...all.slice(0, mostSentences), ...(more > 0 ? [`And ${more} more.`] : [])].join('\n');
}

/** The latest run, with its error. */
function runOf(alerts: readonly ToldAlert[], links: ConsoleLinks): Record<string, string> {
  const latest = alerts.findLast(({ run }) => run !== undefined);
  if (latest?.run === undefined) return {};
  const { executionId, error } = latest.run;
  return {
    run: links.execution(latest.organization, latest.automationId, executionId),
    ...(error && error.id !== '' && { error_id: error.id }),
    ...(error && error.firstLine !== '' && { error: error.firstLine }),
  };
}

/** The automation's links. The one to its runbook has the name that Prometheus rules use. */
function linksOf(links: NonNullable<ToldAlert['automation']>['links']): Record<string, string> {
  const runbook = links.find(({ title }) => /runbook/i.test(title));
  const lines = links.map(({ title, url }) => `${title}: ${url}`).join('\n');
  return { ...(runbook !== undefined && { runbook_url: runbook.url }), ...(lines !== '' && { links: lines }) };
}
