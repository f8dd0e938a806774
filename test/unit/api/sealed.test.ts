import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { seal, unseal } from '../../../internal/intake/http/sealed.ts';

describe('a sealed text', () => {
  const key = randomBytes(32);

  it('opens with its key and its context only', () => {
    const sealed = seal(key, 'a', 'text – ✓');
    expect(unseal(key, 'a', sealed)).to.equal('text – ✓');
    expect(unseal(key, 'b', sealed)).to.equal(undefined);
    expect(unseal(randomBytes(32), 'a', sealed)).to.equal(undefined);
    expect(seal(key, 'a', 'text'), 'no two are equal').not.to.equal(seal(key, 'a', 'text'));
  });

  it('opens in no changed form', () => {
    const sealed = seal(key, 'a', 'text');
    const bytes = Buffer.from(sealed, 'base64url');
    for (const index of bytes.keys()) {
      const changed = Buffer.from(bytes);
      changed[index] = (changed[index] ?? 0) ^ 1;
      expect(unseal(key, 'a', changed.toString('base64url')), String(index)).to.equal(undefined);
    }
    for (const other of ['', 'x', sealed.slice(0, 30), `${sealed}=`, `${sealed}A`, ` ${sealed}`]) {
      expect(unseal(key, 'a', other), other).to.equal(undefined);
    }
  });
});
