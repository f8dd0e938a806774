import { stripVTControlCharacters, styleText } from 'node:util';

/** An event, as the read API has it. */
export interface EventItem {
  readonly automation: string;
  /** Null without a name. */
  readonly automation_name?: string | null;
  readonly execution_id: string;
  readonly type_of_event: string;
  readonly description: string;
  readonly error_id: string;
  readonly error_description_detail: string;
  readonly created_at: string;
  readonly occurred_at?: string | null;
}

/** An execution, as the read API has it. */
export interface ExecutionItem {
  readonly automation: string;
  /** Null without a name. */
  readonly automation_name?: string | null;
  readonly execution_id: string;
  readonly state: string;
  readonly first_event_at: string;
  readonly duration_ms: number | null;
  readonly anomalies: readonly string[];
}

type Style = Parameters<typeof styleText>[0];

const kindStyles: Readonly<Record<string, Style>> = { START: 'cyan', WARNING: 'yellow', ERROR: 'red', END: 'green' };
const stateStyles: Readonly<Record<string, Style>> = { running: 'cyan', failed: 'red', succeeded: 'green' };

/** One line for an event, and the lines of its error below. */
export function eventText(item: EventItem): string {
  const kind = item.type_of_event;
  const errorId = item.error_id === '' ? [] : [styled('bold', clean(item.error_id))];
  const head = [
    styled('dim', item.occurred_at ?? item.created_at),
    styled(kindStyles[kind], kind.padEnd(7)),
    clean(item.automation_name ?? item.automation),
    clean(item.execution_id),
    ...errorId,
    clean(item.description),
  ];
  const detail = item.error_description_detail;
  const below = detail === '' ? [] : detail.split('\n').map((line) => styled('dim', `    ${clean(line)}`));
  return [head.join('  ').trimEnd(), ...below].join('\n');
}

/** One line for an execution. */
export function executionText(item: ExecutionItem): string {
  const { state, duration_ms: duration } = item;
  return [
    styled('dim', item.first_event_at),
    styled(stateStyles[state], state.padEnd(9)),
    (duration === null ? '-' : `${(duration / 1_000).toFixed(1)} s`).padStart(9),
    clean(item.automation_name ?? item.automation),
    clean(item.execution_id),
    ...item.anomalies.map((anomaly) => styled('yellow', anomaly)),
  ].join('  ');
}

/** Colours on a terminal only; `NO_COLOR` and `FORCE_COLOR` decide otherwise. */
function styled(style: Style | undefined, text: string): string {
  return style === undefined ? text : styleText(style, text, { stream: process.stdout });
}

/** A text of a caller must not move the cursor or add lines. */
function clean(text: string): string {
  return stripVTControlCharacters(text).replaceAll(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, ' ');
}
