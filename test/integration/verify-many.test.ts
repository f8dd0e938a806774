import { expect } from 'chai';
import { exportedEvent } from '../../internal/record/audit/exported-event.ts';
import { signCheckpoint } from '../../internal/ledger/checkpoint.ts';
import { Frontier } from '../../internal/ledger/frontier.ts';
import { leafHashText } from '../../internal/ledger/hashing.ts';
import { leafOf } from '../../internal/ledger/leaf.ts';
import { entryBundle, tilePath, tilesOf, tileWidth } from '../../internal/ledger/tiles.ts';
import { findingsOf, runVerify } from '../support/run-verify.ts';
import { logKeys } from '../support/sealed-ledger.ts';
import { testFiles } from '../support/test-files.ts';

const begin = Date.parse('2026-11-21T10:00:00Z');

/** A line of an export: an event of each millisecond. */
function lineAt(at: number): string {
  const hex = (begin + at).toString(16).padStart(12, '0');
  return JSON.stringify({
    id: `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`,
    automation: '0190a0b0-0000-7000-8000-000000000001',
    execution_id: 'run 1',
    type_of_event: 'EVENT',
    occurred_at: null,
    created_at: new Date(begin + at).toISOString(),
  });
}

describe('verify of many events', () => {
  const files = testFiles();

  /** Writes the log of acme with the events of these lines; resolves with its folder. */
  async function writeLog(lines: readonly string[]): Promise<string> {
    const leaves = lines.map((line) => leafOf(exportedEvent(line, 'acme')));
    const tree = new Frontier();
    for (const leaf of leaves) tree.append(leafHashText(leaf));
    const head = { size: tree.size, root: tree.root() };
    await files.write('log/checkpoint', signCheckpoint('acme', head, logKeys));
    for (const tile of tilesOf(tree.size).filter(({ level }) => level === 'entries')) {
      const own = leaves.slice(tile.index * tileWidth, (tile.index + 1) * tileWidth);
      await files.write(`log/${tilePath(tile)}`, entryBundle(Buffer.concat(own)));
    }
    return files.path('log');
  }

  it('names the first ten of 150,000 that were removed from an export', async () => {
    const lines = Array.from({ length: 150_002 }, (_, at) => lineAt(at));
    const log = await writeLog(lines);
    const exported = await files.write('export', `${lines.at(0)}\n${lines.at(-1)}\n`);
    expect(findingsOf(await runVerify('', ['--log', log, '--export', exported]))).to.match(
      /^(Event \S+ is in the log, and not in the record: it was removed\.\n){10}There are 149,990 more findings\.\nThe export has no manifest, [^\n]+\n$/,
    );
  });
});
