import { gzipSync, zstdCompressSync } from 'node:zlib';
import { expect } from 'chai';
import * as fc from 'fast-check';
import { encodingOf, type Encoding } from '../../../../internal/intake/bodies/content-encoding.ts';
import { Decoder } from '../../../../internal/intake/bodies/decoder.ts';
import { inPieces, zstdBomb } from '../../../support/encoded-bodies.ts';

function encoding(name: string): Encoding {
  const found = encodingOf({ 'content-encoding': name });
  if (found === undefined) throw new Error(`${name} is no encoding`);
  return found;
}

const compress = { gzip: gzipSync, zstd: zstdCompressSync };

describe('the decoder of bodies', () => {
  for (const [name, encode] of Object.entries(compress)) {
    it(`joins the parts of ${name}, however they are cut`, async () => {
      const parts = fc.array(fc.uint8Array({ maxLength: 100 }), { minLength: 1, maxLength: 4 });
      const lengths = fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 4 });
      await fc.assert(
        fc.asyncProperty(parts, lengths, async (all, cuts) => {
          const taken: Buffer[] = [];
          const decoder = new Decoder(encoding(name), (piece) => void taken.push(piece));
          const bytes = Buffer.concat(all.map((part) => encode(part)));
          for (const piece of inPieces(bytes, cuts)) await decoder.write(piece);
          await decoder.end();
          decoder.close();
          expect(Buffer.concat(taken).equals(Buffer.concat(all))).to.equal(true);
        }),
        { numRuns: 50 },
      );
    });
  }

  it('stops a bomb of 32 KiB that would be 1 GiB as soon as it is refused', async () => {
    let taken = 0;
    const refusal = new Error('too much');
    const decoder = new Decoder(encoding('zstd'), (piece) => {
      taken += piece.length;
      if (taken > 100_000) throw refusal;
    });
    const bomb = zstdBomb(2 ** 30);
    expect(bomb.length).to.be.below(33_000);
    const failure: unknown = await decoder.write(bomb).catch((error: unknown) => error);
    decoder.close();
    expect(failure).to.equal(refusal);
    expect(taken).to.be.within(100_000, 200_000);
  });

  it('refuses zstd that needs a window of more than 8 MiB', async () => {
    const bomb = zstdBomb(1);
    // A window of 16 MiB (RFC 8878, section 3.1.1.1.2).
    bomb[5] = 14 << 3;
    const decoder = new Decoder(encoding('zstd'), () => undefined);
    const failure: unknown = await decoder.write(bomb).catch((error: unknown) => error);
    decoder.close();
    expect(failure).to.have.nested.property('faults[0].detail').that.contains('needs a window of more than 8 MiB');
  });
});
