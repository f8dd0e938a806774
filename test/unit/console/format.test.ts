import { expect } from 'chai';
import { healthOf, percentile } from '../../../internal/console/health.ts';
import {
  formatAge,
  formatDuration,
  formatNumber,
  formatShare,
  shortenId,
  shortenUuid,
} from '../../../internal/console/parts/format.ts';

describe('texts of the console', () => {
  it('say durations in the two largest units', () => {
    const texts = [0, 340, 999.6, 2_400, 12_040, 59_960, 185_000, 3_600_000, 5_400_000, 187_200_000];
    expect(texts.map(formatDuration)).to.deep.equal([
      '0 ms',
      '340 ms',
      '1 s',
      '2.4 s',
      '12 s',
      '1 min',
      '3 min 5 s',
      '1 h',
      '1 h 30 min',
      '2 d 4 h',
    ]);
  });

  it('say ages in one unit', () => {
    const ages = [-90_000, 0, 1_999, 12_000, 90_000, 7_200_000, 172_800_000, 2_000 * 86_400_000];
    expect(ages.map(formatAge)).to.deep.equal([
      'in 1 min',
      'just now',
      'just now',
      '12 s ago',
      '1 min ago',
      '2 h ago',
      '2 d ago',
      '2,000 d ago',
    ]);
  });

  it('separate thousands, and show small shares', () => {
    expect(formatNumber(1_234_567)).to.equal('1,234,567');
    const shares = [0, 1, 40, 500, 9_999, 10_000].map((part) => formatShare(part, 10_000));
    expect(shares).to.deep.equal(['0 %', '< 0.1 %', '0.4 %', '5 %', '> 99 %', '100 %']);
    expect(formatShare(0, 0)).to.equal('0 %');
  });

  it('leave out the middle of long ids, by characters', () => {
    expect(shortenId('short')).to.equal('short');
    expect(shortenId('x'.repeat(20) + 'end', 10)).to.equal('xxxxxx…end');
    expect(shortenId('🙂'.repeat(12), 10)).to.equal(`${'🙂'.repeat(6)}…${'🙂'.repeat(3)}`);
    expect(shortenUuid('0190a0b0-0000-7000-8000-00000000abcd')).to.equal('0190a0b0…abcd');
  });
});

describe('the health of an automation', () => {
  const run = (state: 'running' | 'failed' | 'succeeded', number: number, duration_ms: number | null = 1) => ({
    execution_id: String(number),
    state,
    first_event_at: `2026-11-20T12:00:0${number}.000Z`,
    duration_ms,
  });

  it('counts the failures since the last success, beside running ones', () => {
    const runs = [
      run('running', 5, null),
      run('failed', 4),
      run('running', 3, null),
      run('failed', 2),
      run('succeeded', 1),
    ];
    const [health] = healthOf({ automation: 'a', runs });
    expect(health).to.include({ failuresInARow: 2, failingSince: run('failed', 2).first_event_at, failed: 2 });
    expect(healthOf({ automation: 'a', runs: runs.slice(4) })[0]).to.include({
      failuresInARow: 0,
      failingSince: undefined,
    });
    expect(healthOf({ automation: 'a', runs: [] })).to.deep.equal([]);
  });

  it('has percentiles between two values', () => {
    expect(percentile([1, 2, 3, 4], 0.5)).to.equal(2.5);
    expect(percentile([7], 0.95)).to.equal(7);
    expect(percentile([], 0.5)).to.equal(undefined);
  });
});
