import { expect } from 'chai';
import { readOptions } from '../bench/harness/options.ts';

describe('what the benchmark measures with', () => {
  const { ROUNDS: before } = process.env;
  after(() => {
    delete process.env['ROUNDS'];
    if (before !== undefined) process.env['ROUNDS'] = before;
  });

  for (const value of ['0', '1.5', 'many']) {
    it(`refuses ROUNDS=${value} by name`, () => {
      process.env['ROUNDS'] = value;
      expect(readOptions).to.throw('ROUNDS must be a whole number above 0');
    });
  }
});
