import { proveInclusion } from '../ledger/proofs.ts';
import { writeProof } from '../ledger/proof-text.ts';
import type { Database } from '../store/database.ts';
import { findLeaf } from '../store/ledger/find-leaf.ts';
import { nodesOfLog, readTile } from '../store/ledger/read-tiles.ts';
import { sql, type RawBuilder } from '../store/sql.ts';
import { findNewestEvent, type ExecutionId } from './find-newest-event.ts';
import { readAs } from './read-as.ts';

/** A signed checkpoint of an organization's log. */
export interface SignedCheckpoint {
  readonly note: string;
  readonly size: number;
}

/**
 * The newest checkpoint that enough witnesses have cosigned; without witnesses, the newest one.
 * Undefined while the organization has none.
 */
export function getCheckpoint(db: Database, organization: string): Promise<SignedCheckpoint | undefined> {
  return newest(db, organization, sql`published_note`, sql`published_size`);
}

/** The newest signed checkpoint, whether witnesses have cosigned it or not. */
export function getSignedCheckpoint(db: Database, organization: string): Promise<SignedCheckpoint | undefined> {
  return newest(db, organization, sql`note`, sql`size`);
}

function newest(
  db: Database,
  organization: string,
  note: RawBuilder<unknown>,
  size: RawBuilder<unknown>,
): Promise<SignedCheckpoint | undefined> {
  return readAs(db, organization, async (trx) => {
    const { rows } = await sql<{ note: string; size: string }>`
      select ${note} as note, ${size} as size from log_checkpoints
      where organization = ${organization} and ${note} is not null order by hour desc limit 1
    `.execute(trx);
    return rows.map((row) => ({ note: row.note, size: Number(row.size) }))[0];
  });
}

/** The texts of all acts of an organization whose leaves are in its log or waiting, in order. */
export function listActs(db: Database, organization: string): Promise<string[]> {
  return readAs(db, organization, async (trx) => {
    const { rows } = await sql<{ act: string }>`
      select act from log_acts where organization = ${organization} order by id
    `.execute(trx);
    return rows.map(({ act }) => act);
  });
}

/** A tile as it is stored, or longer: leaves (`entries`) or hashes. Empty if there is none. */
export function getTile(
  db: Database,
  organization: string,
  tile: { level: number | 'entries'; index: number },
): Promise<Buffer> {
  return readAs(db, organization, (trx) => readTile(trx, organization, tile));
}

/**
 * The proof that the event with this id is in the organization's log, with the newest checkpoint.
 * Undefined while that checkpoint does not cover it.
 */
export async function getProof(db: Database, organization: string, id: string): Promise<string | undefined> {
  const checkpoint = await getCheckpoint(db, organization);
  if (checkpoint === undefined) return undefined;
  const found = await readAs(db, organization, (trx) => findLeaf(trx, organization, id));
  if (found === undefined || found.index >= checkpoint.size) return undefined;
  const read = nodesOfLog((tile) => getTile(db, organization, tile));
  const hashes = await proveInclusion(found.index, checkpoint.size, read);
  return writeProof({ ...found, hashes, checkpoint: checkpoint.note });
}

/** When the last event of an execution was sealed, and which witnesses have cosigned. */
export interface Seal {
  readonly eventId: string;
  /** In ISO 8601; undefined while no checkpoint covers the event. */
  readonly sealedAt: string | undefined;
  readonly cosignedBy: readonly string[];
}

/**
 * The seal of an execution; undefined while the organization has no log, or the execution no event.
 */
export async function getSeal(db: Database, organization: string, execution: ExecutionId): Promise<Seal | undefined> {
  const log = sql`select from log_trees where organization = ${organization}`;
  const hasLog = (await readAs(db, organization, (trx) => log.execute(trx))).rows.length > 0;
  const eventId = hasLog ? await findNewestEvent(db, organization, execution) : undefined;
  if (eventId === undefined) return undefined;
  return readAs(db, organization, async (trx) => {
    const found = await findLeaf(trx, organization, eventId);
    if (found === undefined) return { eventId, sealedAt: undefined, cosignedBy: [] };
    // The first checkpoint that covers it, and the newest: cosignatures of either count.
    const { rows } = await sql<{ signed_at: Date; cosigned_by: string[] }>`
      select signed_at, cosigned_by from (
        (select hour, signed_at, cosigned_by from log_checkpoints
          where organization = ${organization} and size > ${found.index} order by hour limit 1)
        union
        (select hour, signed_at, cosigned_by from log_checkpoints
          where organization = ${organization} and size > ${found.index} order by hour desc limit 1)
      ) as covering order by hour
    `.execute(trx);
    const cosignedBy = [...new Set(rows.flatMap(({ cosigned_by }) => cosigned_by))].sort();
    return { eventId, sealedAt: rows[0]?.signed_at.toISOString(), cosignedBy };
  });
}
