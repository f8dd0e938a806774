import { expect } from 'chai';
import { RequestError } from '../../../internal/kit/errors/request-error.ts';
import type { Keyed, Reservation } from '../../../internal/queue/keys/idempotency.ts';
import { MirroredKeys } from '../../../internal/queue/keys/mirrored-keys.ts';
import { anEvent } from '../../support/events.ts';

const busy = new RequestError('request-in-progress', 'under way');
const reserved = (id: string, committed = false): Reservation => ({
  identities: [{ id, createdAt: 1 }],
  committed,
});
const keyed: Keyed[] = [{ key: ['caller', 'a'], events: [anEvent({ id: 'new' })] }];

/** A shard whose keys answer so, and the calls that it got; undefined for one that fails. */
function shard(answer: Reservation | RequestError | undefined) {
  const calls: string[] = [];
  const note = (name: string) => (all: readonly Keyed[]) => {
    calls.push([name, ...all.flatMap(({ events }) => events.map(({ id }) => id))].join(' '));
    return Promise.resolve();
  };
  const keys = {
    reserve: async (all: readonly Keyed[]) => {
      await note('reserve')(all);
      if (answer === undefined) throw new Error('no answer');
      return [answer];
    },
    look: async (all: readonly Keyed[]) => {
      await note('look')(all);
      if (answer === undefined) throw new Error('no answer');
      return [answer];
    },
    markCommitted: note('commit'),
    release: note('release'),
    replaceIdentity: note('replace'),
  };
  return { keys, calls };
}

/** The result, and what both shards were asked. */
async function reserve(first?: Reservation | RequestError, second?: Reservation | RequestError) {
  const shards = [shard(first), shard(second)] as const;
  const [result] = await new MirroredKeys(shards[0].keys, shards[1].keys).reserve(keyed, 'each');
  return { result, asked: shards.map(({ calls }) => calls) };
}

describe('idempotency keys in two shards', () => {
  it('give the second the identity of the first', async () => {
    const { result, asked } = await reserve(reserved('earlier'), reserved('earlier'));
    expect([result, asked]).to.deep.equal([reserved('earlier'), [['reserve new'], ['reserve earlier']]]);
  });

  it('are those of the one that answers', async () => {
    expect((await reserve(undefined, reserved('second', true))).result).to.deep.equal(reserved('second', true));
    expect((await reserve(reserved('first', true), undefined)).result).to.deep.equal(reserved('first', true));
    expect((await reserve(busy, reserved('second'))).result).to.equal(busy);
  });

  it('follow the second, which gave an identity while the first was away; the first learns it', async () => {
    const { result, asked } = await reserve(reserved('new'), reserved('during', true));
    expect([result, asked[0]]).to.deep.equal([
      reserved('during', true),
      ['reserve new', 'replace during', 'commit during'],
    ]);
    const refused = await reserve(reserved('new'), busy);
    expect([refused.result, refused.asked[0]]).to.deep.equal([busy, ['reserve new', 'release new']]);
  });

  it('are looked at in the first; in the second if that does not answer', async () => {
    for (const [first, asked] of [
      [reserved('first'), ['look new']],
      [undefined, ['look new', 'look new']],
    ] as const) {
      const shards = [shard(first), shard(reserved('second'))] as const;
      const found = await new MirroredKeys(shards[0].keys, shards[1].keys).look(keyed);
      expect(found).to.deep.equal([first ?? reserved('second')]);
      expect(shards.flatMap(({ calls }) => calls)).to.deep.equal(asked);
    }
  });

  it('keep the identity that a caller got, whatever the second says', async () => {
    const committed = reserved('first', true);
    for (const other of [reserved('second'), busy]) {
      expect((await reserve(committed, other)).result).to.deep.equal(committed);
    }
  });
});
