import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';

/** Readers of streams: what they received, and when. */
export class StreamReaders {
  /** From the commit of an event until a reader has it, in ms. */
  readonly latencies: number[] = [];
  /** Events that readers have received, and times that a reader has received one again. */
  received = 0;
  repeated = 0;
  /** Messages that say that events were left out. */
  omissions = 0;
  /** Streams that ended. */
  ended = 0;
  readonly #storedAt = new Map<string, number>();
  readonly #agent = new Agent({ keepAlive: false, maxSockets: Infinity });
  readonly #responses: IncomingMessage[] = [];

  /** Notes when events were stored, in ms of this process's clock. */
  stored(ids: string[], at: number): void {
    for (const id of ids) this.#storedAt.set(id, at);
  }

  /** Opens a stream. Resolves once it is answered. */
  async open(port: number, token: string): Promise<void> {
    const headers = { token, 'x-forwarded-proto': 'https' };
    const sent = request({ port, path: '/v1/stream/', headers, agent: this.#agent }).end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    if (response.statusCode !== 200) throw new Error(`a stream was answered with ${response.statusCode}`);
    this.#responses.push(response);
    this.#read(response);
  }

  close(): void {
    for (const response of this.#responses) response.destroy();
    this.#agent.destroy();
  }

  #read(response: IncomingMessage): void {
    const seen = new Set<string>();
    let rest = '';
    response.setEncoding('utf8').on('data', (text: string) => {
      const now = performance.now();
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) this.#readLine(line, seen, now);
    });
    response.once('close', () => {
      this.ended += 1;
    });
    response.on('error', () => undefined);
  }

  #readLine(line: string, seen: Set<string>, now: number): void {
    if (line === 'event: omitted') this.omissions += 1;
    const [, id] = /^data: \{"id":"([^"]*)"/.exec(line) ?? [];
    if (id === undefined) return;
    if (seen.has(id)) this.repeated += 1;
    seen.add(id);
    this.received += 1;
    const at = this.#storedAt.get(id);
    if (at !== undefined) this.latencies.push(Math.max(0, now - at));
  }
}
