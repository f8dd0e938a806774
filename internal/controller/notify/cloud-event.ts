import { randomUUID } from 'node:crypto';
import type { Alert, AlertedAutomation, Transition } from '../../expectation/transition.ts';
import type { AlertRun } from './alert-runs.ts';
import type { ExecutionStep } from './execution-steps.ts';
import type { ConsoleLinks } from './links.ts';

/** A kind of notification, as the resource `Channel` names it. */
export type NotificationKind = `automation.${Alert['kind'] | 'resolved'}` | `execution.${ExecutionStep['state']}`;

/**
 * A notification as a CloudEvent 1.0 in JSON (https://cloudevents.io). `id` is the same for each
 * channel that gets it.
 */
export interface CloudEvent {
  specversion: '1.0';
  id: string;
  source: string;
  type: `dev.runledger.${NotificationKind | 'test'}`;
  subject: string;
  time: string;
  datacontenttype: 'application/json';
  data: Record<string, unknown>;
}

/**
 * The events of a change: one, or two if the alert opened and ended between two ticks.
 * @param run the run that the alert is about, if any.
 */
export function alertEvents(
  { change, alert, automation }: Transition,
  run: AlertRun | undefined,
  links: ConsoleLinks,
): CloudEvent[] {
  const { organization, automationId, kind, openedAt, resolvedAt } = alert;
  const event = (type: NotificationKind, at: number): CloudEvent => ({
    ...envelope(type, organization, new Date(at), links),
    subject: automationId,
    data: {
      organization,
      ...described(automationId, automation),
      alert: { ...payloadOf(alert), run: run === undefined ? null : runOf(alert, run, links) },
      console: links.automation(organization, automationId),
    },
  });
  const opened = change === 'opened' ? [event(`automation.${kind}`, openedAt)] : [];
  // A late start is over when it is recorded.
  const isOver = resolvedAt !== undefined && kind !== 'late';
  return isOver ? [...opened, event('automation.resolved', resolvedAt)] : opened;
}

/** The event of an execution that started, succeeded or failed. */
export function executionEvent(
  { automationId, executionId, state, occurredAt, errorId, errorDescription }: ExecutionStep,
  organization: string,
  automation: AlertedAutomation | undefined,
  links: ConsoleLinks,
): CloudEvent {
  const error = { error_id: errorId, error_description: errorDescription };
  return {
    ...envelope(`execution.${state}`, organization, occurredAt, links),
    subject: `${automationId}/${executionId}`,
    data: {
      organization,
      ...described(automationId, automation),
      execution: { execution_id: executionId, state, ...(state === 'failed' && error) },
      console: links.execution(organization, automationId, executionId),
    },
  };
}

/** The event of a test, which shows that a channel works. */
export function testEvent(organization: string, links: ConsoleLinks): CloudEvent {
  return {
    ...envelope('test', organization, new Date(), links),
    subject: organization,
    data: { organization, console: links.organization(organization) },
  };
}

function envelope(type: NotificationKind | 'test', organization: string, at: Date, links: ConsoleLinks) {
  return {
    specversion: '1.0',
    id: randomUUID(),
    source: links.organization(organization),
    type: `dev.runledger.${type}`,
    time: at.toISOString(),
    datacontenttype: 'application/json',
  } as const;
}

function described(automation: string, declared: AlertedAutomation | undefined) {
  const { namespace, name, displayName, owner, links } = declared ?? {};
  return { automation, namespace, name, display_name: displayName, owner, links };
}

/** The run of an alert, with its page and its first error. */
function runOf({ organization, automationId }: Alert, { executionId, error }: AlertRun, links: ConsoleLinks) {
  return {
    execution_id: executionId,
    console: links.execution(organization, automationId, executionId),
    error_id: error?.id ?? null,
    error: error?.firstLine ?? null,
    error_lines: error?.firstLines ?? null,
  };
}

/** An alert as the read API shows it. */
function payloadOf({ id, kind, occurrence, reason, facts, openedAt, resolvedAt, resolvedReason }: Alert) {
  return {
    id,
    kind,
    occurrence,
    reason,
    facts,
    opened_at: new Date(openedAt).toISOString(),
    resolved_at: resolvedAt === undefined ? null : new Date(resolvedAt).toISOString(),
    resolved_reason: resolvedReason ?? null,
  };
}
