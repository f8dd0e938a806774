import { expect } from 'chai';
import { readOptions } from '../bench/harness/options.ts';

describe('what the benchmark measures with', () => {
  const names = 'QUICK ROUNDS SECONDS DRAIN_EVENTS DRAIN_JOBS BURST_EVENTS GROWTH_EVENTS'.split(' ');
  const before = names.map((name) => [name, process.env[name]] as const);

  beforeEach(() => {
    for (const name of names) delete process.env[name];
  });

  after(() => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });

  it('takes what is set', () => {
    process.env['ROUNDS'] = '9';
    expect(readOptions().rounds).to.equal(9);
  });

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
