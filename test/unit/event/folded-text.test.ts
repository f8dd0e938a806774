import { expect } from 'chai';
import { unsettled } from '../../../internal/store/column-holds-text.ts';

describe('characters that NFKC changes or joins', () => {
  it('are all in the class that is normalized in Postgres', () => {
    const known = new RegExp(`[${unsettled}]`, 'u');
    // Selects the emoji form of the character before: NFKC leaves it alone.
    const missing = Array.from({ length: 0xffff }, (_, code) => String.fromCodePoint(code)).filter((character) => {
      if (character === '\ufe0f' || /\p{Cs}/u.test(character) || known.test(character)) return false;
      return character.normalize('NFKC') !== character || /\p{M}|[\u1160-\u11ff]/u.test(character);
    });
    expect(missing.map((character) => character.codePointAt(0)?.toString(16))).to.deep.equal([]);
  });
});
