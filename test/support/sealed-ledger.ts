import { openCheckpoint, type TreeHead } from '../../internal/ledger/checkpoint.ts';
import { signCheckpoint } from '../../internal/ledger/checkpoint.ts';
import {
  createSigningKey,
  forOrganization,
  readSigningKeys,
  readVerifierKey,
  verifierKeyText,
  type SigningKey,
} from '../../internal/ledger/keys.ts';
import { macKeyOf, type MacKey } from '../../internal/ledger/mac.ts';
import { readLeaf, splitLeaves } from '../../internal/ledger/leaf.ts';
import { hashSize } from '../../internal/ledger/hashing.ts';
import { leafSize } from '../../internal/ledger/leaf.ts';
import { entryBundle, tilePath, tilesOf } from '../../internal/ledger/tiles.ts';
import { getCheckpoint, getProof, getTile, listActs } from '../../internal/record/ledger.ts';
import type { Database } from '../../internal/store/database.ts';
import { extendLedgers } from '../../internal/store/ledger/extend-ledgers.ts';
import { signLedgers } from '../../internal/store/ledger/sign-ledgers.ts';

/** A key that signs the logs of a test. */
export const logKey = createSigningKey('log.example.org');
export const logKeys: SigningKey[] = readSigningKeys(logKey);
export const publicLogKey = logKeys.map((key) => verifierKeyText(key)).join();

/** The key of the MACs that this key gives, and the options with which events get leaves. */
export const macKey: MacKey = logKeys.map(macKeyOf)[0] ?? Buffer.alloc(0);
export const withLeaves = { macKey };

/** Extends and signs the logs until no leaf waits. */
export async function seal(db: Database, mostLeaves = 1_000): Promise<void> {
  while (((await extendLedgers(db, [macKey], mostLeaves))?.placed ?? 0) > 0);
  await signLedgers(db, [macKey], async ({ organization, head }) => ({
    note: signCheckpoint(organization, head, logKeys),
  }));
}

/** The newest checkpoint, with its signature checked. */
export async function headOf(db: Database, organization = 'acme'): Promise<TreeHead> {
  const checkpoint = await getCheckpoint(db, organization);
  return openCheckpoint(checkpoint?.note ?? '', organization, [readVerifierKey(publicLogKey)]);
}

/** The ids of a log's leaves, in order. */
export async function idsInLog(db: Database, organization = 'acme'): Promise<string[]> {
  const { size } = await headOf(db, organization);
  const entries = tilesOf(size).filter(({ level }) => level === 'entries');
  const tiles = await Promise.all(entries.map((tile) => getTile(db, organization, tile)));
  return tiles.flatMap((tile) => splitLeaves(tile).map((leaf) => readLeaf(leaf).id));
}

/** The public key of an organization's log. */
export function publicKeyOf(organization = 'acme'): string {
  return logKeys.map((key) => verifierKeyText(forOrganization(key, organization))).join();
}

/** What the log serves, by path below its prefix, with the proofs of some events. */
export async function servedBy(db: Database, proven: readonly string[], organization = 'acme') {
  const served = new Map<string, Buffer | string>();
  const checkpoint = await getCheckpoint(db, organization);
  if (checkpoint !== undefined) served.set('checkpoint', checkpoint.note);
  for (const tile of tilesOf(checkpoint?.size ?? 0)) {
    const content = await getTile(db, organization, tile);
    const isEntries = tile.level === 'entries';
    const bytes = content.subarray(0, tile.width * (isEntries ? leafSize : hashSize));
    served.set(tilePath(tile), isEntries ? entryBundle(bytes) : bytes);
  }
  const acts = await listActs(db, organization);
  served.set('acts', acts.map((act) => `${act}\n`).join(''));
  for (const id of proven) served.set(`proof/${id}`, (await getProof(db, organization, id)) ?? '');
  return served;
}
