import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { createGuessBrake } from '../../../internal/api/guess-brake.ts';

describe('the brake on guessed tokens', () => {
  it('lets 100 wrong tokens a second pass at once, and holds back those that follow', async () => {
    let now = 5_000;
    const brake = createGuessBrake(() => now);
    const atOnce = (): Promise<boolean> => Promise.race([brake().then(() => true), nextTurn(false)]);
    for (let guess = 0; guess < 100; guess += 1) expect(await atOnce()).to.equal(true);
    const begun = performance.now();
    const held = brake();
    expect(await Promise.race([held.then(() => 'answered'), nextTurn('held back')])).to.equal('held back');
    now = 6_000;
    expect(await atOnce(), 'in the next second').to.equal(true);
    await held;
    expect(performance.now() - begun).to.be.within(400, 10_000);
  });
});
