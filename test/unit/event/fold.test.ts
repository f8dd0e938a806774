import { expect } from 'chai';
import * as fc from 'fast-check';
import { containing, fold } from '../../../internal/event/fold.ts';

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

  it('is the same of a text in upper case, in lower case and decomposed', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 20 }), (text) => {
        for (const other of [text.normalize('NFD'), text.normalize('NFC'), fold(text)]) {
          expect(fold(other)).to.equal(fold(text));
        }
      }),
    );
  });
});
