import { expect } from 'chai';
import { advisoryLocks } from '../../../internal/store/advisory-locks.ts';

describe('advisory locks', () => {
  it('have different numbers, so that no work waits for other work', () => {
    const numbers = Object.values(advisoryLocks);
    expect(new Set(numbers).size).to.equal(numbers.length);
  });
});
