import { sql, type Transaction } from 'kysely';
import type { TreeHead } from '../../ledger/checkpoint.ts';
import { Frontier } from '../../ledger/frontier.ts';
import { isMadeTree, macsOfTree, type MacKey } from '../../ledger/mac.ts';
import { proveConsistency, type ReadNode } from '../../ledger/proofs.ts';
import type { GrownLog, Signature } from '../../ledger/signer.ts';
import type { Database, Tables } from '../database.ts';
import { isHere } from '../organizations/here.ts';
import { nodesOfLog, readTile } from './read-tiles.ts';
import { inSealTurn } from './seal-turn.ts';

/** Signs the head of a log, or refuses it. */
export type SignHead = (log: GrownLog) => Promise<Signature>;

/** A log to sign next, with its last checkpoint if it has one. */
export interface LastSigned {
  organization: string;
  note: string | undefined;
  /** Proves that the last checkpoint extends a smaller one. */
  prove: (smaller: number) => Promise<Buffer[]>;
}

export interface SignOptions {
  /** Called with the logs that are signed next. */
  before?: (logs: readonly LastSigned[]) => Promise<void>;
  /**
   * If given, a log that has not grown is signed again when this returns false for its last
   * checkpoint.
   */
  isSigned?: ((organization: string, note: string) => boolean) | undefined;
  /** True if no witness must cosign a checkpoint before the console shows it. Default: true. */
  publishes?: boolean;
}

/** A log and its last checkpoint. */
interface Unsigned {
  organization: string;
  size: string;
  frontier: Uint8Array;
  mac: Uint8Array | null;
  refused: boolean;
  signed: string | null;
  signed_root: Uint8Array | null;
  signed_note: string | null;
}

/** How many checkpoints a step signed, and which logs got none and why. */
export interface SignReport {
  signed: number;
  refused: { organization: string; reason: string }[];
}

/** Why a tree that no sealer has made gets no checkpoint. */
const foreign = 'somebody without a key of the log changed its end';

/**
 * Signs a checkpoint of each log that has grown, and keeps the newest of each hour. The trees are
 * already committed, hence on disk. Marks a tree that none of the keys made, and does not sign it.
 * Resolves with undefined while another worker has the turn.
 */
export function signLedgers(
  db: Database,
  keys: readonly MacKey[],
  sign: SignHead,
  { before, isSigned, publishes = true }: SignOptions = {},
): Promise<SignReport | undefined> {
  return inSealTurn(db, async (trx) => {
    const signed: Signed[] = [];
    const refused: SignReport['refused'] = [];
    const unsigned = await readUnsigned(trx, isSigned);
    const last = unsigned.map(({ organization, signed: size, signed_note: note }) => ({
      organization,
      note: note ?? undefined,
      prove: (smaller: number) => proveConsistency(smaller, Number(size), nodesOf(trx, organization)),
    }));
    if (last.length > 0) await before?.(last);
    for (const { organization, signed_root: root, ...log } of unsigned) {
      const size = Number(log.size);
      const tree = { size, bytes: Buffer.from(log.frontier) };
      if (!isMadeTree(keys, organization, tree, log.mac)) {
        refused.push({ organization, reason: foreign });
        await updateTree(trx, organization, { refused: true });
        continue;
      }
      const head = { size, root: new Frontier(size, tree.bytes).root() };
      const last = root === null ? undefined : { size: Number(log.signed), root: Buffer.from(root) };
      const read = nodesOf(trx, organization);
      const signature = await sign({ organization, head, last, read });
      if ('refused' in signature) refused.push({ organization, reason: signature.refused });
      else {
        signed.push({ organization, ...head, note: signature.note });
        // While the key is replaced, each tree gets the MAC of both.
        const mac = macsOfTree(keys, organization, tree);
        if (log.refused || !mac.equals(log.mac ?? Buffer.alloc(0)))
          await updateTree(trx, organization, { mac, refused: false });
      }
    }
    await writeCheckpoints(trx, signed, publishes);
    return { signed: signed.length, refused };
  });
}

async function updateTree(
  trx: Transaction<Tables>,
  organization: string,
  change: { mac?: Buffer; refused: boolean },
): Promise<void> {
  await trx.updateTable('log_trees').set(change).where('organization', '=', organization).execute();
}

function nodesOf(trx: Transaction<Tables>, organization: string): ReadNode {
  return nodesOfLog((tile) => readTile(trx, organization, tile));
}

async function readUnsigned(trx: Transaction<Tables>, isSigned: SignOptions['isSigned']): Promise<Unsigned[]> {
  const { rows } = await sql<Unsigned>`
    select t.organization, t.size, t.frontier, t.mac, t.refused, c.size as signed, c.root as signed_root, c.note as signed_note
    from log_trees t
    left join lateral (
      select size, root, note from log_checkpoints c where c.organization = t.organization order by hour desc limit 1
    ) c on true
    where (t.size is distinct from coalesce(c.size, 0) or t.refused or (t.size > 0 and ${isSigned !== undefined}::boolean))
      and ${isHere('t.organization')}
  `.execute(trx);
  return rows.filter(
    ({ organization, size, refused, signed, signed_note: note }) =>
      refused || signed !== size || note === null || isSigned?.(organization, note) === false,
  );
}

type Signed = TreeHead & { organization: string; note: string };

/** The hour never precedes that of an earlier checkpoint, even after the clock was set back. */
async function writeCheckpoints(
  trx: Transaction<Tables>,
  signed: readonly Signed[],
  publishes: boolean,
): Promise<void> {
  if (signed.length === 0) return;
  await sql`
    insert into log_checkpoints (organization, hour, size, root, note, signed_at, published_size, published_note)
    select s.organization, greatest(date_trunc('hour', now(), 'UTC'), max(c.hour)), s.size, s.root, s.note, now(),
      case when ${publishes} then s.size end, case when ${publishes} then s.note end
    from unnest(
      ${signed.map(({ organization }) => organization)}::text[],
      ${signed.map(({ size }) => size)}::bigint[],
      ${signed.map(({ root }) => root)}::bytea[],
      ${signed.map(({ note }) => note)}::text[]
    ) as s (organization, size, root, note)
    left join log_checkpoints c on c.organization = s.organization
    group by s.organization, s.size, s.root, s.note
    on conflict (organization, hour) do update
      set size = excluded.size, root = excluded.root, note = excluded.note, signed_at = excluded.signed_at,
        cosigned_by = '{}',
        published_size = coalesce(excluded.published_size, log_checkpoints.published_size),
        published_note = coalesce(excluded.published_note, log_checkpoints.published_note)
  `.execute(trx);
}
