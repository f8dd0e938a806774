import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { createWrongTokenLimiter } from '../../../internal/intake/http/wrong-token-limiter.ts';

describe('the rate limiter for wrong tokens', () => {
  it('answers 100 wrong tokens a second at once, and delays each further one for 0.5 to 1.5 s', async () => {
    let now = 5_000;
    const pauses: { ms: number; end: () => void }[] = [];
    const pause = (ms: number): Promise<void> => new Promise((resolve) => pauses.push({ ms, end: resolve }));
    const limiter = createWrongTokenLimiter(() => now, pause);
    const atOnce = (): Promise<boolean> => Promise.race([limiter().then(() => true), nextTurn(false)]);
    for (let guess = 0; guess < 100; guess += 1) expect(await atOnce()).to.equal(true);
    const delayed = Array.from({ length: 200 }, () => limiter());
    expect(await Promise.race([...delayed.map((each) => each.then(() => 'answered')), nextTurn('delayed')])).to.equal(
      'delayed',
    );
    now = 6_000;
    expect(await atOnce(), 'in the next second').to.equal(true);
    expect(pauses).to.have.lengthOf(delayed.length);
    for (const { ms, end } of pauses) {
      expect(ms).to.be.within(500, 1_500);
      end();
    }
    await Promise.all(delayed);
    expect(new Set(pauses.map(({ ms }) => ms)).size, 'not all together').to.be.above(100);
  });
});
