import { openStream } from '../readapi/stream.ts';
import { idMessage, type Message, type StreamFormat } from '../readapi/stream/messages.ts';
import type { Html } from '../kit/html/html.ts';
import type { StoredSince } from '../record/stream.ts';
import type { Console, Visit } from './visit.ts';
import { stillViewer } from './still-viewer.ts';

/** One message of a live page: a named event whose data is markup. */
export interface LiveMessage {
  name: string;
  markup: Html;
}

/**
 * Answers with a stream of markup. `opening` is sent once the stream can miss no stored event. The
 * stream ends within two ticks once the session or the right to see the organization ends, and half
 * a minute after Postgres last confirmed that right.
 */
export async function sendLive(
  { ctx, organization }: Visit,
  { streams, readMetrics, findViewer }: Console,
  messagesOf: (stored: StoredSince) => LiveMessage[],
  opening: readonly LiveMessage[] = [],
): Promise<void> {
  const mayRead = stillViewer(ctx, organization, findViewer);
  const reader = { organization, mayRead, format: formatOf(messagesOf), opening: opening.map(textOf) };
  await openStream(ctx, { streams, readMetrics }, reader);
}

/** The messages, followed by the id from which a reader resumes. */
function formatOf(messagesOf: (stored: StoredSince) => LiveMessage[]): StreamFormat {
  return (stored, idOf) => {
    const last = stored.events.at(-1);
    if (last === undefined) return [];
    return [...messagesOf(stored).map(textOf), idMessage(idOf(last.position))];
  };
}

function textOf({ name, markup }: LiveMessage): Message {
  const lines = String(markup).split(/\r\n|\r|\n/);
  return { text: `event: ${name}\n${lines.map((line) => `data: ${line}\n`).join('')}\n`, events: 1 };
}
