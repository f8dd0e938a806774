import { expect } from 'chai';
import * as fc from 'fast-check';
import { BodyEnd, type TextEnd } from '../../../internal/intake/bodies/body-end.ts';

function endOf(bytes: Buffer, limit: number, sizes: readonly number[] = []): TextEnd {
  const end = new BodyEnd(limit);
  let from = 0;
  for (const size of sizes) {
    end.add(bytes.subarray(from, from + size));
    from += size;
  }
  end.add(bytes.subarray(from));
  return end.end();
}

describe('the end of a body', () => {
  it('begins with a whole character, and counts those before it, however the body arrives', () => {
    const texts = fc.string({ unit: fc.constantFrom('a', 'é', '✓', '🪵', '\n'), maxLength: 60 });
    const sizes = fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 30 });
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 100 }), sizes, (text, limit, pieces) => {
        const { text: end, cut } = endOf(Buffer.from(text), limit, pieces);
        const characters = Array.from(text);
        expect(end).to.equal(characters.slice(cut).join(''));
        const longer = characters.slice(Math.max(0, cut - 1)).join('');
        if (cut > 0) expect(Buffer.byteLength(longer)).to.be.above(limit);
      }),
    );
  });

  it('is text of the encoding that the first bytes name', () => {
    for (const [mark, swap] of [
      ['fffe', false],
      ['feff', true],
    ] as const) {
      const bytes = Buffer.from('0123456789', 'utf16le');
      const body = Buffer.concat([Buffer.from(mark, 'hex'), swap ? bytes.swap16() : bytes]);
      expect(endOf(body, 100)).to.deep.equal({ text: '0123456789', cut: 0 });
      expect(endOf(body, 7, [1, 4])).to.deep.equal({ text: '789', cut: 8 });
    }
    expect(endOf(Buffer.from('\uFEFFabc'), 100)).to.deep.equal({ text: 'abc', cut: 0 });
  });
});
