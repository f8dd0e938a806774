import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { Batches } from '../../../internal/kit/async/batches.ts';
import { until } from '../../support/until.ts';

describe('items that share a call', () => {
  let calls: string[][];
  let end: (() => void)[];
  let callers: { open: number };
  let batches: Batches<string, string>;
  beforeEach(() => {
    [calls, end, callers] = [[], [], { open: 1 }];
    batches = new Batches(async (items) => {
      calls.push([...items]);
      await new Promise<void>((resolve) => end.push(resolve));
      return items.map((item) => `reply to ${item}`);
    }, callers);
  });
  const endCalls = (): void => end.splice(0).forEach((resolve) => resolve());

  it('wait for nobody when they are alone', async () => {
    for (const item of ['first', 'second']) {
      const reply = batches.ask(item);
      await nextTurn();
      expect(calls.at(-1)).to.deep.equal([item]);
      endCalls();
      expect(await reply).to.equal(`reply to ${item}`);
    }
  });

  it('arrive during a call and go into the next one, with a reply for each', async () => {
    callers.open = 3;
    const replies = [batches.ask('a')];
    await nextTurn();
    replies.push(batches.ask('b'), batches.ask('c'));
    await nextTurn();
    expect(calls).to.deep.equal([['a']]);
    endCalls();
    await until('the second call', () => calls.length === 2);
    endCalls();
    expect(await Promise.all(replies)).to.deep.equal(['reply to a', 'reply to b', 'reply to c']);
    expect(calls).to.deep.equal([['a'], ['b', 'c']]);
  });

  it('hold up no other when nobody waits for them', async () => {
    batches.post('a mark');
    await nextTurn();
    const reply = batches.ask('a request');
    await nextTurn();
    expect(calls).to.deep.equal([['a mark'], ['a request']]);
    endCalls();
    expect(await reply).to.equal('reply to a request');
    await batches.drained();
  });

  it('fail with their call only', async () => {
    let fails = true;
    const failing = new Batches<string, string>(async (items) => {
      if (fails) throw new Error('no connection');
      return items;
    }, callers);
    expect(await failing.ask('a').catch((error: Error) => error.message)).to.equal('no connection');
    fails = false;
    expect(await failing.ask('b')).to.equal('b');
  });
});
