import { expect } from 'chai';
import * as fc from 'fast-check';
import {
  cutText,
  endOfText,
  faultOfText,
  isLineOfCut,
  isOrganization,
  isStorable,
  storable,
} from '../../../internal/event/stored-text.ts';

describe('the check of stored texts', () => {
  it('refuses what Postgres cannot hold, and what is too long in Unicode characters', () => {
    expect(faultOfText('', 0)).to.equal(undefined);
    expect(faultOfText('👍'.repeat(3), 3)).to.equal(undefined);
    expect(faultOfText('👍'.repeat(4), 3)).to.equal('must not be longer than 3 characters');
    expect(faultOfText('a'.repeat(9), 4)).to.equal('must not be longer than 4 characters');
    for (const text of ['a\0b', '\ud800', 'a\udc00'])
      expect(faultOfText(text, 100)).to.equal('must not contain U+0000 or unpaired surrogates');
  });

  it('makes any text one that passes it', () => {
    const texts = fc.string({ unit: 'binary', maxLength: 40 });
    const units = fc.array(fc.integer({ min: 0, max: 0xffff })).map((codes) => String.fromCharCode(...codes));
    fc.assert(
      fc.property(fc.oneof(texts, units), fc.integer({ min: 0, max: 20 }), (text, longest) => {
        expect(faultOfText(storable(text, longest), longest)).to.equal(undefined);
        expect(Array.from(cutText(text, longest))).to.deep.equal(Array.from(text).slice(0, longest));
        if (isStorable(text)) expect(storable(text)).to.equal(text);
      }),
    );
  });

  it('keeps the end of a text, and says in its first line how much is missing', () => {
    const texts = fc.string({ unit: fc.constantFrom('a', '🪵', '\n', '\0'), maxLength: 200 });
    const numbers = { longest: fc.integer({ min: 0, max: 220 }), cut: fc.integer({ min: 0, max: 2_000 }) };
    fc.assert(
      fc.property(texts, numbers.longest, numbers.cut, (text, longest, cut) => {
        const end = endOfText(text, longest, cut);
        expect(faultOfText(end, longest)).to.equal(undefined);
        const length = Array.from(text).length;
        if (cut === 0 && length <= longest) expect(end).to.equal(storable(text));
        else if (longest > 50) {
          const [line = '', ...kept] = end.split('\n');
          expect(isLineOfCut(line)).to.equal(true);
          expect(storable(text).endsWith(kept.join('\n'))).to.equal(true);
          expect(Number(/\d+/.exec(line)?.[0])).to.equal(cut + length - Array.from(kept.join('\n')).length);
        }
      }),
    );
  });

  it('takes no organization that is longer than a label, or that Postgres cannot hold', () => {
    expect(['acme', 'a'.repeat(63), 'Ünï cödé:x'].every(isOrganization)).to.equal(true);
    expect(['', 'a'.repeat(64), 'a\0', undefined, 7].some(isOrganization)).to.equal(false);
  });
});
