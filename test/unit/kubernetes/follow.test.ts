import { expect } from 'chai';
import { follow } from '../../../internal/cluster/follow.ts';
import type { KubernetesObject } from '../../../internal/cluster/object.ts';
import type { Resource, WatchFrame, WatchOptions } from '../../../internal/cluster/resource.ts';

const times = { listTimeoutMs: 1_000, idleMs: 1_000, shortestWatchMs: 0 };

function object(name: string, generation: number): KubernetesObject {
  return { metadata: { name, generation } };
}

/** Lists the object `one`, and then sends these frames. */
function resourceWith(frames: readonly WatchFrame<KubernetesObject>[], end: AbortController) {
  const resource = {
    list: async () => ({ objects: [object('one', 1)], resourceVersion: '1', next: undefined }),
    watch: async ({ onFrame }: WatchOptions<KubernetesObject>) => {
      for (const frame of frames) onFrame(frame);
      end.abort();
      return 'aborted' as const;
    },
  };
  return resource as unknown as Resource<KubernetesObject>;
}

describe('the followed objects of one kind', () => {
  it('announce each change once, and no new version that is none', async () => {
    const end = new AbortController();
    const frames = [
      { type: 'MODIFIED', object: object('one', 1) },
      { type: 'MODIFIED', object: object('one', 2) },
      { type: 'ADDED', object: object('two', 1) },
      { type: 'MODIFIED', object: object('two', 1) },
      { type: 'DELETED', object: object('two', 1) },
    ] as const;
    let objects: ReadonlyMap<string, number> = new Map();
    const seen: object[] = [];
    const cache = {
      onList: (list: ReadonlyMap<string, number>) => void (objects = list),
      onChange: () => void seen.push(Object.fromEntries(objects)),
      isChange: (before: number | undefined, after: number) => before !== after,
    };
    const generation = ({ metadata }: KubernetesObject): number => metadata?.generation ?? 0;
    await follow(resourceWith(frames, end), generation, cache, times, end.signal);
    expect(seen).to.deep.equal([{ '/one': 2 }, { '/one': 2, '/two': 1 }, { '/one': 2 }]);
  });
});
