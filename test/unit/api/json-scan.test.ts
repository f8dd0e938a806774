import { expect } from 'chai';
import * as fc from 'fast-check';
import { mostValues, scanArray, scanLines } from '../../../internal/intake/bodies/json-scan.ts';
import { runAtOnce } from '../../../internal/intake/http/turns.ts';
import { RequestError } from '../../../internal/kit/errors/request-error.ts';

/** The value of a document whose elements are parsed one by one; undefined if it is no JSON. */
function parsed(text: string): unknown {
  const bytes = Buffer.from(text);
  try {
    const found = runAtOnce(scanArray(bytes));
    if (found === undefined) return JSON.parse(text);
    return found.map(([from, to]): unknown => JSON.parse(bytes.toString('utf8', from, to)));
  } catch {
    return undefined;
  }
}

function whole(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

describe('the scan of JSON', () => {
  it('finds the elements of an array as JSON.parse does', () => {
    const space = fc.stringMatching(/^[ \n\r\t]{0,3}$/);
    fc.assert(
      fc.property(fc.jsonValue(), space, fc.nat(2), (value, around, indent) => {
        const text = around + JSON.stringify(value, undefined, indent) + around;
        expect(parsed(text)).to.deep.equal(whole(text));
      }),
    );
  });

  it('takes for JSON what JSON.parse takes, and nothing else', () => {
    const pieces = fc.array(fc.constantFrom('[', ']', '{', '}', ',', ':', '"', '\\', '1', '"a"', ' ', '\0', 'é'));
    fc.assert(
      fc.property(pieces, (parts) => {
        const text = `[${parts.join('')}]`;
        expect(parsed(text)).to.deep.equal(whole(text));
        expect(parsed(parts.join(''))).to.deep.equal(whole(parts.join('')));
      }),
      { numRuns: 5_000 },
    );
  });

  it('finds the lines that are not blank', () => {
    const bytes = Buffer.from('{}\r\n\n \t\r\n1,\n"');
    const lines = runAtOnce(scanLines(bytes)).map(([from, to]) => bytes.toString('utf8', from, to));
    expect(lines).to.deep.equal(['{}\r', '1,', '"']);
  });

  it('counts blank lines among the values', () => {
    const blank = (lines: number): Buffer => Buffer.from('\n'.repeat(lines));
    expect(runAtOnce(scanLines(blank(mostValues)))).to.deep.equal([]);
    expect(() => runAtOnce(scanLines(blank(mostValues + 1)))).to.throw(RequestError);
  });

  it('refuses too many values, in lines too', () => {
    const many = (text: string): string =>
      `[${Array(mostValues + 2)
        .fill(text)
        .join(',')}]`;
    for (const text of ['1', '{}', '"a,b"']) {
      expect(() => runAtOnce(scanArray(Buffer.from(many(text))))).to.throw(RequestError, /too many values/);
      expect(() => runAtOnce(scanLines(Buffer.from(`"\n${many(text)}`)))).to.throw(RequestError, /too many values/);
    }
  });
});
