import { expect } from 'chai';
import { Frontier } from '../../internal/ledger/frontier.ts';
import { hashLeaf, leafHashText } from '../../internal/ledger/hashing.ts';
import { isEvent, leafOf, readLeaf, splitLeaves } from '../../internal/ledger/leaf.ts';
import { openCheckpoint } from '../../internal/ledger/checkpoint.ts';
import { readVerifierKey } from '../../internal/ledger/keys.ts';
import { readProof } from '../../internal/ledger/proof-text.ts';
import { rootOfInclusion } from '../../internal/ledger/proofs.ts';
import { tilesOf } from '../../internal/ledger/tiles.ts';
import { getProof, getTile } from '../../internal/record/ledger.ts';
import type { Database } from '../../internal/store/database.ts';
import { headOf, publicLogKey } from './sealed-ledger.ts';

/** Checks that a log is the tree of its checkpoint, with the leaf of each row, and can prove it. */
export async function checkLog(db: Database, organization: string): Promise<void> {
  const head = await headOf(db, organization);
  const entries = tilesOf(head.size).filter(({ level }) => level === 'entries');
  const tiles = await Promise.all(entries.map((tile) => getTile(db, organization, tile)));
  const leaves = tiles.flatMap((tile) => splitLeaves(tile));
  const tree = new Frontier();
  for (const leaf of leaves) tree.append(leafHashText(leaf));
  expect({ size: tree.size, root: tree.root() }).to.deep.equal(head);

  const rows = await db.selectFrom('events').selectAll().where('organization', '=', organization).execute();
  const byId = new Map(rows.map((row) => [row.id, leafOf(row)]));
  const ofEvents = leaves.filter(isEvent);
  expect(ofEvents).to.have.lengthOf(byId.size);
  for (const leaf of ofEvents) expect(leaf).to.deep.equal(byId.get(readLeaf(leaf).id));

  for (const at of new Set([0, Math.floor(leaves.length / 2), leaves.length - 1])) {
    const leaf = leaves[at] ?? Buffer.alloc(0);
    const proof = readProof((await getProof(db, organization, readLeaf(leaf).id)) ?? '');
    expect(proof).to.deep.include({ index: at, leaf });
    const { size, root } = openCheckpoint(proof.checkpoint, organization, [readVerifierKey(publicLogKey)]);
    expect(rootOfInclusion({ index: at, size }, hashLeaf(leaf), proof.hashes)).to.deep.equal(root);
  }
}
