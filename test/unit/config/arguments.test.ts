import { expect } from 'chai';
import { parseOptions, UsageError } from '../../../internal/config/arguments.ts';

describe('options of a command', () => {
  const parse = (...args: string[]): object =>
    parseOptions(args, { automation: { type: 'string' }, checkpoint: { type: 'string', multiple: true } });

  it('are given once, unless the command takes several', () => {
    expect(parse('--automation', 'a', '--checkpoint', 'b', '--checkpoint', 'c')).to.deep.equal({
      __proto__: null,
      automation: 'a',
      checkpoint: ['b', 'c'],
    });
    expect(() => parse('--automation', 'a', '--automation=b')).to.throw(
      UsageError,
      /^--automation may be given only once$/,
    );
  });
});
