import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export interface CollectedSpan {
  service: string;
  name: string;
  traceId: string;
  spanId: string;
  parentId: string;
  /** Ids of the traces of its links. */
  links: string[];
}

/**
 * An OpenTelemetry collector, as far as a test needs one: takes spans by OTLP over HTTP (protobuf).
 */
export class Collector {
  readonly spans: CollectedSpan[] = [];
  /** Every request as it came: its address, headers and body. */
  readonly requests: string[] = [];
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      void buffer(request).then((body) => {
        this.requests.push([request.url, ...request.rawHeaders, body.toString('latin1')].join('\n'));
        if (request.url === '/v1/traces') this.spans.push(...spansIn(body));
        response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
      });
    });
  }

  static async start(): Promise<Collector> {
    const collector = new Collector();
    collector.#server.listen(0, '127.0.0.1');
    await once(collector.#server, 'listening');
    return collector;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }
}

type Field = [number: number, value: Buffer];

/** Field numbers as opentelemetry/proto/trace/v1/trace.proto has them. */
function spansIn(request: Buffer): CollectedSpan[] {
  return all(request, 1).flatMap((resourceSpans) => {
    const service = serviceOf(all(resourceSpans, 1)[0]);
    const spans = all(resourceSpans, 2).flatMap((scopeSpans) => all(scopeSpans, 2));
    return spans.map((span) => ({
      service,
      name: String(all(span, 5)[0]),
      traceId: hex(span, 1),
      spanId: hex(span, 2),
      parentId: hex(span, 4),
      links: all(span, 13).map((link) => hex(link, 1)),
    }));
  });
}

function serviceOf(resource?: Buffer): string {
  const attributes = all(resource, 1).map((pair) => [String(all(pair, 1)[0]), String(all(all(pair, 2)[0], 1)[0])]);
  return attributes.find(([key]) => key === 'service.name')?.[1] ?? '';
}

function hex(message: Buffer, number: number): string {
  return all(message, number)[0]?.toString('hex') ?? '';
}

/** The values of a field of a message that have a length: texts, bytes and messages. */
function all(message: Buffer = Buffer.alloc(0), number: number): Buffer[] {
  return fieldsOf(message).flatMap(([field, value]) => (field === number ? [value] : []));
}

function fieldsOf(message: Buffer): Field[] {
  const fields: Field[] = [];
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 1; ; shift *= 128) {
      const byte = message[at] ?? 0;
      at += 1;
      value += (byte & 127) * shift;
      if (byte < 128) return value;
    }
  };
  while (at < message.length) {
    const tag = varint();
    if ((tag & 7) === 2) {
      const length = varint();
      fields.push([tag >> 3, message.subarray(at, at + length)]);
      at += length;
    } else if ((tag & 7) === 0) varint();
    else at += (tag & 7) === 1 ? 8 : 4;
  }
  return fields;
}
