import type { Execution } from './execution.ts';
import type { EventPosition, StoredEvent } from './stored-event.ts';

/**
 * A place in the stream of stored events. It holds all that another process needs to continue
 * without a gap or a repeat. `since` and `until` are Postgres snapshots.
 */
export interface StreamPosition {
  /** Everything that was visible in this snapshot has been sent. */
  since: string;
  /** The greatest `created_at` that has been sent; the search begins an overlap before it. */
  newestAt: string;
  /** Within a batch: the snapshot that ends the batch, and the last event sent from it. */
  until?: string | undefined;
  after?: EventPosition | undefined;
  /** The name of the database among several. */
  database?: string | undefined;
}

/** An event of the stream, and the position after it. */
export interface StreamedEvent {
  event: StoredEvent;
  position: StreamPosition;
}

/** What was stored since a position. */
export interface StoredSince {
  /**
   * The newest events, up to the limit and the bytes of a page, in order of `created_at` and id.
   */
  events: StreamedEvent[];
  /** The executions of these events as they are now. */
  executions: Execution[];
  /** Older events beyond them, which are left out. */
  omitted: number;
  /** The position after all of this. */
  position: StreamPosition;
}
