import { join } from 'node:path';
import { expect } from 'chai';
import { Child } from '../support/child.ts';
import { slowdown } from '../support/fault/latency.ts';
import { sharedSystem } from '../support/fault/shared-system.ts';
import type { System } from '../support/fault/system.ts';

describe('token guessing', () => {
  let system: System;

  before(async () => {
    system = await sharedSystem();
  });

  it('at full speed slows good clients by no more than twice', async () => {
    const port = system.pod('ingest-1').apiPort;
    let guesses = 0;
    const ratio = await slowdown(port, 2, async () => {
      const guesser = new Child(process.execPath, [
        join(import.meta.dirname, '../support/fault/guess-tokens.ts'),
        String(port),
      ]);
      await guesser.line(/[1-9]\d* guesses/);
      return () => {
        guesses += Number(guesser.output.at(-1)?.split(' ')[0]);
        guesser.process.kill('SIGKILL');
      };
    });
    console.log(`      ${guesses} guesses`);
    expect(ratio).to.be.below(2);
  });
});
