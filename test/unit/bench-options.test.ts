import { expect } from 'chai';
import { readOptions } from '../bench/harness/options.ts';

describe('what the benchmark measures with', () => {
  const names = ['ROUNDS', 'PATIENCE', 'QUICK'] as const;
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

  it('takes patience of nothing, and does not wait when it is tried out', () => {
    process.env['PATIENCE'] = '0';
    expect(readOptions().patience).to.equal(0);
    delete process.env['PATIENCE'];
    expect(readOptions().patience).to.be.above(0);
    process.env['QUICK'] = '1';
    expect(readOptions().patience).to.equal(0);
  });

  for (const [name, value, least] of [
    ['ROUNDS', '0', 1],
    ['PATIENCE', '-1', 0],
    ['PATIENCE', 'long', 0],
  ] as const) {
    it(`refuses ${name}=${value} by name`, () => {
      process.env[name] = value;
      expect(readOptions).to.throw(`${name} must be a whole number from ${least}`);
    });
  }
});
