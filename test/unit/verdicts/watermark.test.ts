import { expect } from 'chai';
import { heldOf, reasonOfLag, watermarkOf } from '../../../internal/controller/verdicts/watermark.ts';

const now = Date.parse('2026-11-25T12:00:00Z');
const queue = { now, oldestAt: undefined, admittingAt: now, gaps: [] };
const clocks = { controller: now, postgres: now };

describe('watermark', () => {
  it('waits for Jobs that are not recorded, and says so', () => {
    const free = watermarkOf(queue, clocks).at ?? 0;
    const held = { ...queue, uncapturedSince: now - 60_000 };
    expect(watermarkOf(held, clocks).at).to.equal(free - 60_000);
    expect(reasonOfLag(held)).to.equal('Jobs of the cluster are not recorded yet.');
    expect(reasonOfLag({ ...held, oldestAt: now - 90_000 })).to.match(/workers have not stored/);
  });

  it('waits for an organization with many changes of Jobs for 30 s, and then with its verdicts only', () => {
    const free = watermarkOf(queue, clocks).at ?? 0;
    const behind = (ageMs: number) => ({ ...queue, uncaptured: { oldestAt: now - ageMs, organizations: ['acme'] } });
    expect(watermarkOf(behind(30_000), clocks).at).to.equal(free - 30_000);
    expect(heldOf(behind(30_000))).to.equal(undefined);
    expect(watermarkOf(behind(30_001), clocks).at).to.equal(free);
    const overflow = { oldestAt: now - 60_000, organizations: ['globex', 'acme'] };
    const both = { ...behind(30_001), overflow };
    expect(heldOf(both)).to.deep.equal({ organizations: ['globex', 'acme'], until: free - 60_000 });
    expect(watermarkOf({ ...both, overflow: { ...overflow, oldestAt: now - 20_000 } }, clocks).at).to.equal(
      free - 20_000,
    );
  });

  it('does not move while events wait for the database, and says so', () => {
    const waiting = { ...queue, waiting: 'Events wait for the database.' };
    expect(watermarkOf(waiting, clocks)).to.deep.equal({ reason: 'Events wait for the database.' });
  });

  it('waits for a short overflow lane, and for none but its organizations once it is 30 s old', () => {
    const free = watermarkOf(queue, clocks).at ?? 0;
    const overflowing = (ageMs: number) => ({
      ...queue,
      overflow: { oldestAt: now - ageMs, organizations: ['acme'] },
    });
    expect(watermarkOf(overflowing(30_000), clocks).at).to.equal(free - 30_000);
    expect(heldOf(overflowing(30_000))).to.equal(undefined);
    expect(watermarkOf(overflowing(30_001), clocks).at).to.equal(free);
    expect(heldOf(overflowing(30_001))).to.deep.equal({ organizations: ['acme'], until: free - 30_001 });
  });
});
