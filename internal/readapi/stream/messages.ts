import type { Execution } from '../../record/execution.ts';
import type { StoredEvent } from '../../record/stored-event.ts';
import type { StoredSince, StreamPosition } from '../../record/stream.ts';

/** A part of the text of a stream (Server-Sent Events) that is sent as a whole. */
export interface Message {
  readonly text: string;
  /** Events in the text: one, with the execution that it changed, or none. */
  readonly events: 0 | 1;
}

/** The id of a message, from which a reader resumes. */
export type IdOf = (position: StreamPosition) => string;

/** Makes the messages of what was stored, in order. */
export type StreamFormat = (stored: StoredSince, idOf: IdOf) => Message[];

/**
 * The messages of what was stored, as JSON. A change of an execution precedes the last of its
 * events and has no id: a reader that resumes between the two gets the change again instead of
 * missing it.
 */
export function messagesOf({ events, executions }: StoredSince, idOf: IdOf): Message[] {
  const changed = new Map(executions.map((execution) => [keyOf(execution), execution]));
  const messages = events.toReversed().map(({ event, position }) => {
    const key = keyOf(event);
    const execution = changed.get(key);
    changed.delete(key);
    const change = execution === undefined ? '' : textOf('execution', execution);
    return { text: change + textOf('event', event, idOf(position)), events: 1 as const };
  });
  return messages.toReversed();
}

/** Says how many events were left out; null if nobody can tell. */
export function omittedText(count: number | null): string {
  return textOf('omitted', { count });
}

/** Sets the id from which a reader resumes; the reader sees no message. */
export function idMessage(id: string): Message {
  return { text: `: here\nid: ${id}\n\n`, events: 0 };
}

/** JSON has no line breaks, so that each message has one line of data. */
function textOf(kind: string, data: unknown, id?: string): string {
  const idLine = id === undefined ? '' : `id: ${id}\n`;
  return `event: ${kind}\n${idLine}data: ${JSON.stringify(data)}\n\n`;
}

/** Events have the automation's id as it was sent, executions in lower case. */
function keyOf({ automation, execution_id }: StoredEvent | Execution): string {
  return `${automation.toLowerCase()} ${execution_id}`;
}
