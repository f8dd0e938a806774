import { expect } from 'chai';
import { until } from '../../support/until.ts';
import { refuse, silence } from '../../support/cluster/scripted-api.ts';
import { eachWithScriptedSource } from '../../support/cluster/scripted-source.ts';

describe('the secret token source stops at once', () => {
  const suite = eachWithScriptedSource();

  // What it would wait for takes longer than a test may.
  const stopped = (): Promise<void> => suite().source.stop();

  it('before it started', async () => {
    suite().create();
    await stopped();
  });

  for (const kind of ['list', 'watch', 'event'] as const) {
    it(`while it waits for the answer to its ${kind}`, async () => {
      suite().api.script(kind, silence);
      suite().api.put('tiny', 'tiny', 'tiny-secret');
      suite().create();
      await suite().source.start();
      await until(kind, () => suite().api.count(kind) === 1);
      await stopped();
      expect(
        suite().logs.lines.filter((line) => line.includes('token watch failed') || line.includes('could not post')),
      ).to.deep.equal([]);
    });
  }

  it('while it watches', async () => {
    await suite().follow();
    await stopped();
  });

  it('while it pauses after a failure', async () => {
    suite().api.script('list', refuse(500, 'no'), Infinity);
    suite().create({ backoff: { firstMs: 60_000, longestMs: 60_000 } });
    await suite().source.start();
    await until('a failure', async () => (await suite().restarts()) === 1);
    await stopped();
  });
});
