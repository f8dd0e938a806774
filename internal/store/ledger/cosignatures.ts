import { sql } from 'kysely';
import { proveConsistency } from '../../ledger/proofs.ts';
import type { Database } from '../database.ts';
import { isHere } from '../organizations/here.ts';
import { nodesOfLog, readTile } from './read-tiles.ts';

/** The newest checkpoint of a log, and proofs that it extends smaller ones. */
export interface NewestCheckpoint {
  organization: string;
  size: number;
  note: string;
  cosignedBy: string[];
  prove: (smaller: number) => Promise<Buffer[]>;
}

/** The newest checkpoint of each log, or of one, that a witness among these lacks. */
export async function listUncosigned(
  db: Database,
  witnesses: readonly string[],
  organization?: string,
): Promise<NewestCheckpoint[]> {
  const ofLog = organization === undefined ? sql`` : sql`and t.organization = ${organization}`;
  const { rows } = await sql<{ organization: string; size: string; note: string; cosigned_by: string[] }>`
    select t.organization, c.size, c.note, c.cosigned_by from log_trees t
    cross join lateral (
      select size, note, cosigned_by from log_checkpoints c
      where c.organization = t.organization order by hour desc limit 1
    ) c
    where not c.cosigned_by @> ${witnesses}::text[] and ${isHere('t.organization')} ${ofLog}
  `.execute(db);
  return rows.map(({ organization: name, note, cosigned_by: cosignedBy, ...row }) => {
    const size = Number(row.size);
    const read = nodesOfLog((tile) => readTile(db, name, tile));
    return { organization: name, size, note, cosignedBy, prove: (smaller) => proveConsistency(smaller, size, read) };
  });
}

/** How many of these witnesses must have cosigned a checkpoint before the console shows it. */
export interface WitnessQuorum {
  readonly names: readonly string[];
  readonly least: number;
}

/**
 * Notes a witness of a checkpoint, and adds its line if any, unless a newer checkpoint replaced it.
 * Once the quorum is complete, the console shows the checkpoint.
 */
export async function addCosignature(
  db: Database,
  { organization, size }: { organization: string; size: number },
  witness: string,
  line: string | undefined,
  { names, least }: WitnessQuorum = { names: [witness], least: 1 },
): Promise<void> {
  await sql`
    update log_checkpoints
    set note = note || ${line === undefined ? '' : `${line}\n`}, cosigned_by = cosigned_by || ${witness}::text
    where organization = ${organization} and size = ${size} and not ${witness} = any(cosigned_by)
  `.execute(db);
  await sql`
    update log_checkpoints set published_size = size, published_note = note
    where organization = ${organization} and size = ${size} and ${witness} = any(cosigned_by)
      and (select count(*) from unnest(cosigned_by) as name where name = any(${names}::text[])) >= ${least}
  `.execute(db);
}
