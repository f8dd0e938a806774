import type { AlertKind } from '../../expectation/verdict.ts';
import type { CloudEvent } from './cloud-event.ts';

/** What people are told of one alert, its end, or one execution. */
export interface ToldItem {
  /** The alert, and what its start was called; undefined for an execution and a test. */
  alert: { id: string; title: string } | undefined;
  /** True for good news: the end of an alert, or a run that succeeded. */
  isGood: boolean;
  /** What happened, in a few words. */
  title: string;
  /** What happened, in a sentence. */
  sentence: string;
  /** The first lines of the run's error; may be empty. */
  error: string;
  /** The page of the run, or else of the automation. */
  link: string;
}

/** A message to people about everything that a channel has not been told. */
export interface ToldMessage {
  organization: string;
  title: string;
  isGood: boolean;
  items: readonly ToldItem[];
  /** Further notifications that the message only counts. */
  more: number;
  /** The page of the one item, or of the organization's alerts. */
  link: string;
}

/** What a claim knows of the notifications that a message tells. */
export interface Told {
  /** The first ones, in order. */
  events: readonly CloudEvent[];
  /** How many there are, and how many of them are good news. */
  count: number;
  good: number;
}

/** A short summary of each kind of alert. */
export const summaries: Record<AlertKind, string> = {
  missing: 'did not start when it should',
  late: 'started late',
  overrunning: 'runs longer than it should',
  failing: 'is failing',
  lost: 'has a run that never ended',
  unknown: 'may not have started: the record has a gap',
};

/** Makes one message of the notifications of an organization. */
export function messageOf({ events, count, good }: Told, organization: string): ToldMessage {
  const items = events.map(itemOf);
  const [first] = items;
  const source = events[0]?.source ?? '';
  const one = count === 1 ? first : undefined;
  const bad = count - good;
  const parts = [...(bad > 0 ? [counted(bad, 'needs', 'need')] : []), ...(good > 0 ? [`${good} right again`] : [])];
  return {
    organization,
    title: one?.title ?? `${organization}: ${parts.join(', ')}`,
    isGood: bad === 0,
    items,
    more: count - items.length,
    link: one?.link ?? `${source}alerts`,
  };
}

function counted(count: number, singular: string, plural: string): string {
  return count === 1 ? `1 automation ${singular} a look` : `${count} automations ${plural} a look`;
}

/** The parts of a notification that people read. */
interface Data {
  automation?: string;
  display_name?: string;
  name?: string;
  console: string;
  alert?: {
    id: string;
    kind: AlertKind;
    reason: string;
    resolved_reason: string | null;
    run: { console: string; error_lines?: string } | null;
  };
  execution?: { execution_id: string; error_description?: string };
}

const states: Record<string, string> = {
  'execution.started': 'started',
  'execution.succeeded': 'succeeded',
  'execution.failed': 'failed',
};

function itemOf({ type, data }: CloudEvent): ToldItem {
  const { automation = '', display_name: displayName, name, console: page, alert, execution } = data as unknown as Data;
  const named = displayName || name || automation;
  if (alert !== undefined) {
    const begun = `${named} ${summaries[alert.kind]}`;
    const isEnd = type === 'dev.runledger.automation.resolved';
    return {
      alert: { id: alert.id, title: begun },
      isGood: isEnd,
      title: isEnd ? `${named} is right again` : begun,
      sentence: (isEnd ? alert.resolved_reason : undefined) ?? alert.reason,
      error: isEnd ? '' : (alert.run?.error_lines ?? ''),
      link: alert.run?.console ?? page,
    };
  }
  if (execution !== undefined) {
    const state = states[type.replace('dev.runledger.', '')] ?? '';
    const error = execution.error_description ?? '';
    return {
      alert: undefined,
      isGood: state !== 'failed',
      title: `${named} ${state}`,
      sentence: `Execution ${execution.execution_id} ${state}.`,
      error,
      link: page,
    };
  }
  const sentence = 'This is a test. Runledger reaches this channel.';
  return { alert: undefined, isGood: true, title: 'A test from Runledger', sentence, error: '', link: page };
}
