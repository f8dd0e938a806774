import type { ProvenEvent } from '../stored-event.ts';

/** How an export writes events. */
export interface ExportFormat {
  /** The media type. */
  readonly type: string;
  /** Most bytes that an encoder holds between two calls, and while it writes them. */
  readonly heldBytes?: number;
  /**
   * Begins an export. The rest of an interrupted export has no head line. `bom`: CSV begins with a
   * byte order mark, by which Excel recognizes UTF-8.
   */
  readonly begin: (isRest: boolean, bom?: boolean) => EventEncoder;
}

/** Turns events into the bytes of one export. */
export interface EventEncoder {
  /** Takes more events and returns what is ready. It may keep events for later. */
  add(events: readonly ProvenEvent[]): string | Uint8Array;
  /** Returns the rest. */
  end(): string | Uint8Array;
}
