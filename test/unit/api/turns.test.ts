import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { Turns } from '../../../internal/api/turns.ts';

describe('the turns of large bodies', () => {
  /** Ran work, and turns on a clock that only work moves, in ms. */
  function begin() {
    const ran: string[] = [];
    let now = 0;
    const turns = new Turns(() => now);
    const add = (organization: string, name: string, ms = 0): void => {
      void turns.run(organization, () => {
        ran.push(name);
        now += ms;
      });
    };
    return { ran, add };
  }

  it('go to each organization in rotation', async () => {
    const { ran, add } = begin();
    for (const name of ['a1', 'a2', 'a3']) add('a', name);
    add('b', 'b1');
    await nextTurn();
    expect(ran).to.deep.equal(['a1', 'b1', 'a2', 'a3']);
  });

  it('are shared by work that is shorter than a slice', async () => {
    const { ran, add } = begin();
    for (const name of ['1', '2', '3', '4', '5', '6']) add('a', name, 0.25);
    await nextTurn();
    expect(ran).to.have.lengthOf(4);
    await nextTurn();
    expect(ran).to.have.lengthOf(6);
  });
});
