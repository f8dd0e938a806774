import { expect } from 'chai';
import { Turns } from '../../../internal/record/turns.ts';
import { failureOf } from '../../support/failure.ts';

describe('turns of long reads', () => {
  it('run one at a time in order, also after one that fails', async () => {
    const turns = new Turns();
    const log: string[] = [];
    const read = (name: string) => async (): Promise<string> => {
      log.push(`${name} begins`);
      await new Promise(setImmediate);
      log.push(`${name} ends`);
      if (name === 'b') throw new Error('failed');
      return name;
    };
    const [a, b, c] = [turns.take(read('a')), failureOf(turns.take(read('b'))), turns.take(read('c'))];
    expect([await a, String(await b), await c]).to.deep.equal(['a', 'Error: failed', 'c']);
    expect(log).to.deep.equal(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
  });
});
