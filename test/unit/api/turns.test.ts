import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { Turns } from '../../../internal/intake/http/turns.ts';
import { until } from '../../support/until.ts';

describe('the turns of large bodies', () => {
  /** Ran work, and turns on a clock that only work moves, in ms. */
  function begin(othersSend?: (organization: string) => boolean) {
    const ran: string[] = [];
    let now = 0;
    const turns = new Turns({ othersSend, now: () => now });
    const add = (organization: string, name: string, isShort: boolean): void => {
      const work = (): void => {
        ran.push(name);
        now += 0.25;
      };
      void turns.run(organization, work, isShort);
    };
    const pass = (ms: number): void => void (now += ms);
    return { ran, add, pass };
  }

  it('go to each organization in rotation', async () => {
    const { ran, add } = begin();
    for (const name of ['a1', 'a2']) add('a', name, false);
    add('b', 'b1', false);
    await nextTurn();
    expect(ran).to.deep.equal(['a1']);
    await nextTurn();
    await nextTurn();
    expect(ran).to.deep.equal(['a1', 'b1', 'a2']);
  });

  it('rest for 4 ms after a slice while others send events; those and short work do not', async () => {
    const { ran, add, pass } = begin((organization) => organization !== 'quiet');
    for (const name of ['h1', 'h2']) add('hostile', name, false);
    await nextTurn();
    add('quiet', 'q1', false);
    add('other', 'short', true);
    await until('the others', () => ran.length === 3);
    expect(ran).to.deep.equal(['h1', 'q1', 'short']);
    pass(4);
    await until('the rest', () => ran.length === 4);
    expect(ran.at(-1)).to.equal('h2');
  });

  it('are shared by short work, until a slice has passed', async () => {
    const { ran, add } = begin();
    for (const name of ['1', '2', '3', '4', '5', '6']) add('a', name, true);
    await nextTurn();
    expect(ran).to.have.lengthOf(4);
    await nextTurn();
    expect(ran).to.have.lengthOf(6);
  });
});
