import { openStream } from '../api/read/stream.ts';
import { idMessage, type Message, type StreamFormat } from '../api/read/stream/messages.ts';
import { streamId } from '../api/read/stream/stream-id.ts';
import type { Html } from '../html/html.ts';
import type { StoredSince } from '../record/stream.ts';
import type { Console, Visit } from './visit.ts';
import { maySee } from './viewer.ts';

/** One message of a live page: a named event whose data is markup. */
export interface LiveMessage {
  name: string;
  markup: Html;
}

/**
 * Answers with a stream of markup. It ends within two ticks of the end of the session, or of the
 * right to see the organization.
 */
export function sendLive(
  { ctx, organization }: Visit,
  { streams, readMetrics, findViewer }: Console,
  messagesOf: (stored: StoredSince) => LiveMessage[],
): void {
  let allowed = true;
  const mayRead = (): boolean => {
    void findViewer(ctx).then(
      (viewer) => (allowed = viewer !== undefined && maySee(viewer, organization)),
      // Postgres does not answer: the last answer stays.
      () => undefined,
    );
    return allowed;
  };
  openStream(ctx, { streams, readMetrics }, { organization, mayRead, format: formatOf(messagesOf) });
}

/** The messages, and then the id from which a reader resumes. */
function formatOf(messagesOf: (stored: StoredSince) => LiveMessage[]): StreamFormat {
  return (stored, organization) => {
    const last = stored.events.at(-1);
    if (last === undefined) return [];
    return [...messagesOf(stored).map(textOf), idMessage(streamId(last.position, organization))];
  };
}

function textOf({ name, markup }: LiveMessage): Message {
  const lines = String(markup).split(/\r\n|\r|\n/);
  return { text: `event: ${name}\n${lines.map((line) => `data: ${line}\n`).join('')}\n`, events: 1 };
}
