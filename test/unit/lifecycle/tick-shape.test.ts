import { createHook } from 'node:async_hooks';
import { expect } from 'chai';
import { keepTickShape } from '../../../internal/lifecycle/tick-shape.ts';
import { collectGarbage } from '../../support/garbage.ts';

describe('the shape of ticks', () => {
  it('outlives a garbage collection in an object that is kept, until it is disposed', async () => {
    const ticks: WeakRef<object>[] = [];
    const left = (): number => ticks.filter((tick) => tick.deref() !== undefined).length;
    const hook = createHook({
      init: (_id, type, _trigger, resource) => {
        if (type === 'TickObject') ticks.push(new WeakRef(resource));
      },
    }).enable();
    const keeping = keepTickShape();
    hook.disable();
    const kept = await keeping;

    await collectGarbage();
    expect(left()).to.equal(1);
    kept[Symbol.dispose]();
    await collectGarbage();
    expect(left()).to.equal(0);
  });
});
