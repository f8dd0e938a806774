import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { readToken } from './console.ts';
import { until } from './until.ts';

/** A message of a stream. */
export interface StreamMessage {
  event: string;
  id: string | undefined;
  data: Record<string, unknown>;
}

/** A reader of `GET /v1/stream/`, which parses messages as browsers do. */
export class StreamReader implements Disposable {
  readonly messages: StreamMessage[] = [];
  /** The id from which to resume. */
  lastEventId = '';
  /** True once the console has ended the stream. */
  ended = false;
  readonly response: IncomingMessage;
  #text = '';

  private constructor(response: IncomingMessage) {
    this.response = response;
    response.setEncoding('utf8');
    response.on('data', (text: string) => this.#take(text));
    response.once('end', () => {
      this.ended = true;
    });
    // A stream that is cut off needs no error.
    response.on('error', () => undefined);
  }

  /** Resolves once the console has told the id from which to resume. */
  static async open(
    port: number,
    options: { organization?: string; lastEventId?: string } = {},
  ): Promise<StreamReader> {
    const { organization = 'acme', lastEventId = '' } = options;
    const headers = { token: readToken(organization), 'x-forwarded-proto': 'https' };
    const resumed = lastEventId === '' ? headers : { ...headers, 'last-event-id': lastEventId };
    const sent = request({ port, path: '/v1/stream/', headers: resumed, agent: false });
    sent.end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const reader = new StreamReader(response);
    if (response.statusCode !== 200) throw new Error(`the stream was answered with ${response.statusCode}`);
    await reader.until('an id', () => reader.lastEventId !== '');
    return reader;
  }

  /** The descriptions of the events so far. */
  get descriptions(): unknown[] {
    return this.messages.filter(({ event }) => event === 'event').map(({ data }) => data['description']);
  }

  async until(what: string, condition: () => boolean): Promise<void> {
    await until(what, () => (condition() ? true : undefined));
  }

  [Symbol.dispose](): void {
    this.response.destroy();
  }

  #take(text: string): void {
    const blocks = (this.#text + text).split('\n\n');
    this.#text = blocks.pop() ?? '';
    for (const block of blocks) this.#read(block.split('\n'));
  }

  #read(lines: string[]): void {
    const fields = new Map(lines.map((line) => [line.split(': ', 1)[0] ?? '', line.slice(line.indexOf(': ') + 2)]));
    const id = fields.get('id');
    if (id !== undefined) this.lastEventId = id;
    const data = fields.get('data');
    if (data === undefined) return;
    this.messages.push({
      event: fields.get('event') ?? 'message',
      id,
      data: JSON.parse(data) as StreamMessage['data'],
    });
  }
}
