import { expect } from 'chai';
import { once } from 'node:events';
import type { ClusterAccess } from '../../../internal/cluster/cluster-access.ts';
import { Supervision, type SupervisionOptions } from '../../../internal/cluster/supervision.ts';
import { until } from '../../support/until.ts';

const access = { close: async () => undefined } as unknown as ClusterAccess;
const times = { relistMs: 20, overlapMs: 20, backoff: { firstMs: 5, longestMs: 5 } };

describe('the supervision of attempts', () => {
  /** What happened, by the number of the attempt. */
  let log: string[];
  let supervision: Supervision;
  beforeEach(() => {
    log = [];
  });
  afterEach(() => supervision.stop());

  const supervise = (
    attempt: (number: number, end: AbortSignal, listed: () => Promise<void>) => Promise<void>,
    onFailure: SupervisionOptions['onFailure'] = () => undefined,
  ): void => {
    let count = 0;
    supervision = new Supervision({
      connect: async () => access,
      times,
      attempt: async (_access, end, listed) => {
        const number = (count += 1);
        await attempt(number, end, async () => {
          log.push(`${number} listed`);
          await listed();
          log.push(`${number} counts`);
        });
      },
      onFailure,
    });
    supervision.start();
  };

  it('ends an attempt only after the next one has its lists, so that no change is missed', async () => {
    supervise(async (number, end, listed) => {
      void listed();
      await once(end, 'abort');
      log.push(`${number} ended`);
    });
    await until('three attempts', () => log.includes('3 counts'));
    expect(log.slice(0, 8)).to.deep.equal([
      '1 listed',
      '1 counts',
      '2 listed',
      '1 ended',
      '2 counts',
      '3 listed',
      '2 ended',
      '3 counts',
    ]);
  });

  it('leaves an attempt alone while the next ones cannot list', async () => {
    const failures: unknown[] = [];
    supervise(
      async (number, end, listed) => {
        if (number > 1 && number < 5) throw new Error(`${number} failed`);
        void listed();
        await once(end, 'abort');
        log.push(`${number} ended`);
      },
      (error) => failures.push(error),
    );
    await until('the fifth attempt', () => log.includes('5 counts'));
    expect(log).to.deep.equal(['1 listed', '1 counts', '5 listed', '1 ended', '5 counts']);
    expect(failures.map(String)).to.deep.equal(['Error: 2 failed', 'Error: 3 failed', 'Error: 4 failed']);
  });

  it('begins again after an attempt failed, and stops at once', async () => {
    const failures: unknown[] = [];
    supervise(
      async (number, end, listed) => {
        void listed();
        if (number === 1) throw new Error('the watch broke');
        await once(end, 'abort');
      },
      (error) => failures.push(error),
    );
    await until('the second attempt', () => log.includes('2 counts'));
    await supervision.stop();
    expect(failures.map(String)).to.deep.equal(['Error: the watch broke']);
  });
});
