import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { createWrongTokenLimiter } from '../../../internal/api/wrong-token-limiter.ts';

describe('the brake on guessed tokens', () => {
  it('lets 100 wrong tokens a second pass at once, and holds back each that follows for half a second to one and a half', async () => {
    let now = 5_000;
    const pauses: { ms: number; end: () => void }[] = [];
    const pause = (ms: number): Promise<void> => new Promise((resolve) => pauses.push({ ms, end: resolve }));
    const brake = createWrongTokenLimiter(() => now, pause);
    const atOnce = (): Promise<boolean> => Promise.race([brake().then(() => true), nextTurn(false)]);
    for (let guess = 0; guess < 100; guess += 1) expect(await atOnce()).to.equal(true);
    const held = Array.from({ length: 200 }, () => brake());
    expect(await Promise.race([...held.map((each) => each.then(() => 'answered')), nextTurn('held back')])).to.equal(
      'held back',
    );
    now = 6_000;
    expect(await atOnce(), 'in the next second').to.equal(true);
    expect(pauses).to.have.lengthOf(held.length);
    for (const { ms, end } of pauses) {
      expect(ms).to.be.within(500, 1_500);
      end();
    }
    await Promise.all(held);
    expect(new Set(pauses.map(({ ms }) => ms)).size, 'not all together').to.be.above(100);
  });

  it('holds back for that time by the clock', async () => {
    const brake = createWrongTokenLimiter(() => 5_000);
    await Promise.all(Array.from({ length: 100 }, () => brake()));
    const begun = performance.now();
    await brake();
    expect(performance.now() - begun).to.be.above(400);
  });
});
