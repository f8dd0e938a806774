import type { Generated } from 'kysely';

/** Leaves of events that are stored and not yet in a log: a row for each batch and organization. */
export interface LogSegmentsTable {
  id: Generated<string>;
  organization: string;
  leaves: Buffer;
}

/** The leaves at the end of each log, after its last full tile. */
export interface LogTailsTable {
  organization: string;
  first_index: string;
  leaves: Buffer;
}

/** The tiles: full ones with leaves (level 0), full and partial ones with hashes of tiles. */
export interface LogTilesTable {
  organization: string;
  level: number;
  index: string;
  content: Buffer;
  /** The lowest and the highest id of an event of the tile; null above level 0. */
  first_id: string | null;
  last_id: string | null;
}

/** The log of each organization: `frontier` is that of `internal/log/frontier.ts`. */
export interface LogTreesTable {
  organization: string;
  size: string;
  frontier: Buffer;
  began_at: Generated<Date>;
  /** The last event that the sealer has looked at, of those that were stored without a leaf. */
  sealed_until_at: Date | null;
  sealed_until_id: string | null;
  /** When every event that was stored had a leaf for the first time. */
  complete_at: Date | null;
}

/** The newest checkpoint of each hour. */
export interface LogCheckpointsTable {
  organization: string;
  hour: Date;
  size: string;
  root: Buffer;
  /** The signed note, with the lines of witnesses that cosigned it. */
  note: string;
  signed_at: Date;
  cosigned_by: Generated<string[]>;
}
