import { expect } from 'chai';
import { choices, Installation, type Choice } from '../support/fault/installation.ts';
import { seedOfRun } from '../support/fault/random.ts';
import { Servers } from '../support/fault/servers.ts';

type Row = readonly boolean[];

/** A move needs another database; every other combination is possible. */
const isPossible = (row: Row): boolean => !row[choices.indexOf('move')] || row[choices.indexOf('databases')] === true;

/** Each two choices of an installation, with what was chosen. */
function pairsOf(row: Row): string[] {
  return row.flatMap((a, i) => row.slice(i + 1).map((b, j) => `${i}${a} ${i + 1 + j}${b}`));
}

/**
 * Few installations in which each two choices are made together in every possible way: the best one
 * of all is added until none is missing.
 */
function coveringInstallations(): Row[] {
  const every = Array.from({ length: 2 ** choices.length }, (_, at) =>
    choices.map((_, bit) => ((at >> bit) & 1) === 1),
  );
  const possible = every.filter(isPossible).map((row) => ({ row, pairs: pairsOf(row) }));
  const missing = new Set(possible.flatMap(({ pairs }) => pairs));
  const chosen: Row[] = [];
  while (missing.size > 0) {
    let best = { row: [] as Row, pairs: [] as string[], gain: 0 };
    for (const { row, pairs } of possible) {
      const gain = pairs.filter((pair) => missing.has(pair)).length;
      if (gain >= best.gain) best = { row, pairs, gain };
    }
    chosen.push(best.row);
    for (const pair of best.pairs) missing.delete(pair);
  }
  return chosen;
}

const installations = coveringInstallations();
const chosenIn = (row: Row): Choice[] => choices.filter((_, at) => row[at]);

describe('installations in which each two choices meet, under load', function () {
  this.timeout(300_000);
  const seed = seedOfRun();
  const servers = new Servers();
  after(() => servers[Symbol.asyncDispose]());

  it(`are ${installations.length}, and leave out no pair`, () => {
    for (const one of choices) {
      for (const other of choices) {
        const together = installations.map(chosenIn).filter((row) => row.includes(one) && row.includes(other));
        expect(together, `${one} and ${other}`).to.not.deep.equal([]);
        const apart = installations.map(chosenIn).filter((row) => row.includes(one) && !row.includes(other));
        const isOne = one === other || (one === 'move' && other === 'databases');
        expect(apart.length > 0, `${one} without ${other}`).to.equal(!isOne);
      }
    }
  });

  for (const [number, row] of installations.entries()) {
    it(`${chosenIn(row).join(', ') || 'nothing chosen'}, SEED=${seed}`, () =>
      Installation.play(servers, new Set(chosenIn(row)), seed + number * 10));
  }
});
