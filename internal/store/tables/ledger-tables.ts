import type { Generated } from 'kysely';

/** Leaves of events that are stored and not yet in a log: a row for each batch and organization. */
export interface LogSegmentsTable {
  id: Generated<string>;
  organization: string;
  leaves: Buffer;
  /** The MAC of the organization and the leaves (`internal/ledger/mac.ts`). */
  mac: Buffer | null;
  /** True if the sealer found no valid MAC: these leaves get no place. */
  refused: Generated<boolean>;
}

/** The acts whose leaves are in a log, in canonical JSON (`internal/ledger/act.ts`). */
export interface LogActsTable {
  organization: string;
  id: string;
  act: string;
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

/** The log of each organization: `frontier` is that of `internal/ledger/frontier.ts`. */
export interface LogTreesTable {
  organization: string;
  size: string;
  frontier: Buffer;
  /** `macsOfTree`, by which the sealer knows that it wrote this row. */
  mac: Buffer | null;
  /** True if the sealer found no valid MAC: the log gets neither leaves nor checkpoints. */
  refused: Generated<boolean>;
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
  /** The newest of the hour that enough witnesses have cosigned, which the console shows. */
  published_size: Generated<string | null>;
  published_note: Generated<string | null>;
}
