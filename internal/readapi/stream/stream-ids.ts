import type { StreamPosition } from '../../record/stream.ts';
import { seal, unseal } from '../../intake/http/sealed.ts';

const context = 'stream';

/**
 * The ids of stream messages. An id is a sealed position, since the transaction counter in a
 * position would show how much other organizations store. All consoles of a database share the key,
 * so a reader may continue at another one.
 */
export class StreamIds {
  readonly #key: Uint8Array;

  constructor(key: Uint8Array) {
    this.#key = key;
  }

  /** The id of a position, for the streams of one organization. */
  of(position: StreamPosition, organization: string): string {
    return seal(this.#key, contextOf(organization), JSON.stringify(position));
  }

  /** The position of an id; undefined unless it is an id of the organization's streams. */
  positionOf(id: string, organization: string): StreamPosition | undefined {
    const text = unseal(this.#key, contextOf(organization), id);
    return text === undefined ? undefined : (JSON.parse(text) as StreamPosition);
  }
}

function contextOf(organization: string): string {
  return `${context} ${organization}`;
}
