import { expect } from 'chai';
import * as fc from 'fast-check';
import { bodyFault, textFault } from '../../../../internal/intake/bodies/body-fault.ts';
import { jsonFault } from '../../../../internal/intake/bodies/json-fault.ts';

describe('what keeps a text from being JSON', () => {
  for (const [text, fault] of [
    ['{"a":-Infinity}', '-Infinity at line 1, column 6 is no JSON value'],
    ['{"a":nul}', 'the word at line 1, column 6 is no JSON value'],
    ['{"a":1,}', 'the comma at line 1, column 7 comes before the end of an object'],
    ['[1,,2]', 'the comma at line 1, column 4 follows no value'],
    ['[1}', 'the bracket at line 1, column 3 closes nothing that is open'],
    ['{a:1}', 'the key at line 1, column 2 must be in double quotes'],
    ['{"a" 1}', 'a colon is missing at line 1, column 6'],
    ['{"a":}', 'a value is missing at line 1, column 6'],
    ['{\n  "a": 1\n  "b": 2}', 'a comma is missing at line 3, column 3'],
    ['{"é😀":NaN}', 'NaN at line 1, column 7 is no JSON value'],
    ['{"a":"b"c"}', 'a comma is missing at line 1, column 9'],
    ['{"a":01}', 'the number at line 1, column 6 has not the form of JSON'],
    ['{"a":"\\x"}', 'the escape at line 1, column 7 is none of JSON'],
    ['{"a":"\n"}', 'the control character at line 1, column 7 must be escaped'],
    ['// c\n{}', 'the comment at line 1, column 1 is no part of JSON'],
    ['{“a”:1}', 'the quote at line 1, column 2 must be the straight one, "'],
    ['<html>', 'the character at line 1, column 1 begins no JSON value'],
    ['{"a":"x', 'it ends at line 1, column 8, inside a text'],
    ['[', 'it ends at line 1, column 2, inside an array'],
  ] as const) {
    it(`is said for ${JSON.stringify(text)}`, () => {
      expect(jsonFault(text)).to.equal(fault);
      expect(textFault(text)).to.equal(`must be valid JSON: ${fault}`);
    });
  }

  it('is found exactly where JSON.parse fails, and holds nothing of the text', () => {
    const tokens = '{ } [ ] , : " "a" 1 - 0 1.5 e3 true null nul \\ \\u00e9 é / + #'.split(' ');
    const token = fc.oneof(fc.constantFrom(...tokens, ' ', '\n', '\t', '\u2028'), fc.string({ maxLength: 3 }));
    const tokenText = fc.array(token, { maxLength: 12 }).map((all) => all.join(''));
    const cases = fc.tuple(fc.json(), fc.nat(), tokenText).map(([json, at, inserted]) => {
      const place = at % (json.length + 1);
      return [json, inserted, json.slice(0, place) + inserted + json.slice(place)];
    });
    fc.assert(
      fc.property(cases, (texts) => {
        for (const text of texts) {
          let isJson = true;
          try {
            JSON.parse(text);
          } catch {
            isJson = false;
          }
          expect(jsonFault(text) === undefined, JSON.stringify(text)).to.equal(isJson);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('may be the bytes, which are counted', () => {
    const latin1 = Buffer.from('{"a":"Müller"}', 'latin1');
    expect(bodyFault(latin1)).to.equal('must be valid UTF-8, which byte 8 is not');
    const afterSubstitute = Buffer.concat([Buffer.from('["\uFFFD'), Buffer.from([0xe9]), Buffer.from('"]')]);
    expect(bodyFault(afterSubstitute)).to.equal('must be valid UTF-8, which byte 6 is not');
    expect(bodyFault(Buffer.from('\uFEFF[1'))).to.equal(
      'must be valid JSON: it ends at line 1, column 3, inside an array',
    );
    expect(bodyFault(Buffer.from(' \n'))).to.equal('must not be blank');
  });

  it('may be a byte anywhere, also in 2 MiB of the character that stands for such bytes', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'é', '✓', '🎉', '\uFFFD'), maxLength: 60 });
    const wrong = fc.constantFrom('ff', '80', 'c3', 'e382', 'f09f8e', 'c080', 'eda080');
    const faultOf = (before: string, bytes: string, after: string): string =>
      bodyFault(Buffer.concat([Buffer.from(`"${before}`), Buffer.from(bytes, 'hex'), Buffer.from(`"${after}`)]));
    const at = (before: string): string => `must be valid UTF-8, which byte ${Buffer.byteLength(before) + 2} is not`;
    fc.assert(
      fc.property(text, wrong, text, (before, bytes, after) => {
        expect(faultOf(before, bytes, after)).to.equal(at(before));
      }),
      { numRuns: 1_000 },
    );
    const many = '\uFFFD'.repeat(700_000);
    expect(faultOf(many, 'ff', '')).to.equal(at(many));
  });
});
