import { expect } from 'chai';
import { leafOf } from '../../../internal/ledger/leaf.ts';
import {
  entryBundle,
  leavesOfBundle,
  packTile,
  readTilePath,
  tilePath,
  tileSizes,
  tilesOf,
  unpackTile,
  widthIn,
} from '../../../internal/ledger/tiles.ts';
import { anEvent } from '../../support/events.ts';

describe('the tiles of a log', () => {
  it('have the paths of C2SP tlog-tiles', () => {
    const paths = {
      'tile/0/x001/x234/067': { level: 0, index: 1_234_067, width: 256 },
      'tile/entries/000.p/5': { level: 'entries', index: 0, width: 5 },
      'tile/2/999': { level: 2, index: 999, width: 256 },
      'tile/1/x001/000.p/255': { level: 1, index: 1_000, width: 255 },
    } as const;
    for (const [path, name] of Object.entries(paths)) {
      expect(tilePath(name)).to.equal(path);
      expect(readTilePath(path)).to.deep.equal(name);
    }
  });

  it('are kept without what all leaves begin with, and read as they were', () => {
    const [whole, packed] = tileSizes;
    const leaves = Buffer.concat(Array.from({ length: 256 }, () => leafOf({ id: anEvent().id, organization: 'acme' })));
    expect(packTile(leaves)).to.have.length(packed);
    expect(unpackTile(packTile(leaves))).to.deep.equal(leaves);
    // Leaves of several kinds stay as they are.
    for (const at of [0, 49, 49 * 255 + 2]) {
      const mixed = Buffer.from(leaves);
      mixed[at] = 4;
      expect(packTile(mixed)).to.have.length(whole);
      expect(unpackTile(packTile(mixed))).to.deep.equal(mixed);
    }
  });

  it('have one path each', () => {
    const others = ['tile/0/1', 'tile/0/x000/001', 'tile/00/001', 'tile/0/001.p/256', 'tile/0/001.p/0', 'tile/64/001'];
    for (const path of [...others, 'tile/0/001/', 'tile/-1/001', 'tile/data/001', 'tile/0/../001', '']) {
      expect(readTilePath(path), path).to.equal(undefined);
    }
  });

  it('of 70,000 leaves are those that the specification counts', () => {
    const count = (level: number | 'entries', full: boolean) =>
      tilesOf(70_000).filter((tile) => tile.level === level && (tile.width === 256) === full);
    expect(count(0, true)).to.have.lengthOf(273);
    expect(count('entries', true)).to.have.lengthOf(273);
    expect(count(0, false)).to.deep.equal([{ level: 0, index: 273, width: 112 }]);
    expect(count(1, true)).to.have.lengthOf(1);
    expect(count(1, false)).to.deep.equal([{ level: 1, index: 1, width: 17 }]);
    expect(count(2, false)).to.deep.equal([{ level: 2, index: 0, width: 1 }]);
    expect(tilesOf(0)).to.deep.equal([]);
    expect(widthIn(70_000, 0, 274)).to.equal(0);
  });

  it('bundle leaves behind their lengths', () => {
    const leaves = Buffer.alloc(98, 7);
    expect(entryBundle(leaves).toString('hex', 0, 4)).to.equal('00310707');
    expect(leavesOfBundle(entryBundle(leaves))).to.deep.equal(leaves);
    expect(() => leavesOfBundle(Buffer.alloc(51))).to.throw('no leaf');
    expect(() => leavesOfBundle(Buffer.alloc(50))).to.throw('not whole');
  });
});
