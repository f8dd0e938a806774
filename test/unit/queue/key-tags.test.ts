import { expect } from 'chai';
import { slotOf, slots } from '../../../internal/queue/keys/hash-tags.ts';
import { keyTags, oppositeOf, rangeOf } from '../../../internal/queue/keys/idempotency-places.ts';

describe('the hash tags of idempotency keys', () => {
  it('have a slot in each of 32 equal ranges, and never change', () => {
    const ranges = keyTags.map((tag) => Math.floor((slotOf(tag) * 32) / slots));
    expect(ranges).to.deep.equal(Array.from({ length: 32 }, (_, range) => range));
    expect([keyTags[0], keyTags[31]]).to.deep.equal(['runledger-key-62', 'runledger-key-32']);
    expect(rangeOf('acme:a-key')).to.equal(31);
  });

  it('have their opposites on another master, whatever the number of masters', () => {
    for (let masters = 2; masters <= 16; masters += 1) {
      const masterOf = (range: number) => Math.floor((slotOf(keyTags[range] ?? '') * masters) / slots);
      for (const range of keyTags.keys()) {
        expect(masterOf(range), `${masters} masters, range ${range}`).to.not.equal(masterOf(oppositeOf(range)));
      }
    }
  });
});
