import { expect } from 'chai';
import { hashTags, slotOf } from '../../../internal/queue/keys/hash-tags.ts';
import {
  movingQueue,
  overflowQueue,
  queueKey,
  queueSlot,
  shardQueue,
  waitingQueue,
} from '../../../internal/queue/keys/keys.ts';

/** How many of the first shards each master has, if all have equal ranges of slots. */
function spread(shards: number, masters: number): number[] {
  const counts = Array.from({ length: masters }, () => 0);
  for (let shard = 0; shard < shards; shard += 1) {
    const master = Math.floor((queueSlot(shardQueue('events', shard)) * masters) / 16_384);
    counts[master] = (counts[master] ?? 0) + 1;
  }
  return counts;
}

describe('the shards inside a Redis Cluster', () => {
  it('have the slots that Redis computes', () => {
    // From CLUSTER KEYSLOT of Redis 7.
    expect([slotOf('123456789'), slotOf('runledger')]).to.deep.equal([12_739, 7_486]);
  });

  it('spread evenly over three and six masters', () => {
    expect(spread(6, 3)).to.deep.equal([2, 2, 2]);
    expect(spread(6, 6)).to.deep.equal([1, 1, 1, 1, 1, 1]);
  });

  it('differ by one shard a master at most, for any number of them on two to six masters', () => {
    for (let masters = 2; masters <= 6; masters += 1) {
      for (let shards = 1; shards <= hashTags.length; shards += 1) {
        const counts = spread(shards, masters);
        const what = `${shards} shards on ${masters} masters: ${counts.join()}`;
        expect(Math.max(...counts) - Math.min(...counts), what).to.be.at.most(1);
      }
    }
  });

  it('keep the keys of a single shard in shard 0, and have the same slot in all lanes', () => {
    expect(queueKey(shardQueue('events', 0), 'wait')).to.equal('{runledger}:events:wait');
    expect(queueKey(overflowQueue('events'), 'wait')).to.equal('{runledger}:events+overflow:wait');
    // The jobs that wait for another database are in shard 0 of each Redis.
    for (const queue of [waitingQueue('events', 'eu'), movingQueue('events')]) {
      expect(queueKey(queue, 'wait')).to.equal(`{runledger}:${queue}:wait`);
    }
    const lane = overflowQueue(shardQueue('events', 3));
    expect(lane).to.equal(shardQueue(overflowQueue('events'), 3));
    expect(queueKey(lane, 'wait')).to.equal('{runledger-3qc}:events+shard-3+overflow:wait');
  });
});
