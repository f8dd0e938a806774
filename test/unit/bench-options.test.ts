import { expect } from 'chai';
import { readOptions } from '../bench/harness/options.ts';

describe('what the benchmark measures with', () => {
  const names = 'QUICK ROUNDS SECONDS DRAIN_EVENTS DRAIN_JOBS BURST_EVENTS GROWTH_EVENTS'.split(' ');
  const before = { ...process.env };
  beforeEach(() => names.forEach((name) => delete process.env[name]));
  after(() => Object.assign(process.env, before));

  it('measures less of everything when it is tried out', () => {
    const { quick: _, ...usual } = readOptions();
    process.env['QUICK'] = '1';
    const { quick: __, ...small } = readOptions();
    for (const [name, value] of Object.entries(small)) {
      expect(value, name).to.be.below(usual[name as keyof typeof usual]);
    }
  });

  for (const value of ['0', '1.5', 'many']) {
    it(`refuses ROUNDS=${value} by name`, () => {
      process.env['ROUNDS'] = value;
      expect(readOptions).to.throw('ROUNDS must be a whole number above 0');
    });
  }
});
