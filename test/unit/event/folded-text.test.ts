import { expect } from 'chai';
import * as fc from 'fast-check';
import { containing, foldedText } from '../../../internal/event/folded-text.ts';
import { unsettled } from '../../../internal/store/column-holds-text.ts';

describe('a folded text', () => {
  for (const [text, part] of [
    ['Frau MÜLLER rief an', 'müller'],
    ['Frau Mu\u0308ller', 'MÜLLER'],
    ['Ｊａｎｅ Doe', 'jane'],
    ['Straße', 'STRASSE'],
    ['ΟΔΥΣΣΕΥΣ', 'οδυσσευς'],
    ['ЖЕНЯ', 'женя'],
    ['ﬁnance', 'FIN'],
    ['Ja\u200bne\u00ad Doe', 'jane doe'],
    ['line 1\nJane', 'line 1\njane'],
  ] as const) {
    it(`contains "${part}" if the text is "${text}"`, () => {
      expect(containing(part)(text)).to.equal(true);
      expect(containing(part)('Nobody 7')).to.equal(false);
    });
  }

  it('is the same of a text composed and decomposed, and contains itself in small letters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }), (text) => {
        for (const form of ['NFD', 'NFC'] as const) expect(foldedText(text.normalize(form))).to.equal(foldedText(text));
        expect(containing(foldedText(text))(text)).to.equal(true);
      }),
    );
  });
});

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
