import type { ColdObject } from '../tables/cold-days-table.ts';
import type { RowChanges } from './event-days.ts';
import type { Partition } from './partitions.ts';

/** All rows of a partition as an archive has them, in these objects. */
export interface ArchivedRows {
  rows: number;
  objects: readonly (ColdObject & { changes: RowChanges })[];
}

/** What an archive has of a partition: all of its rows, or it lacks something. */
export type Archived = ArchivedRows | { missing: string };

/** Compares a partition with the archive. `forReaders`: with the objects that readers can read. */
export type FindArchived = (partition: Partition, forReaders?: boolean) => Promise<Archived>;
