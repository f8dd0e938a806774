import { expect } from 'chai';
import { audit } from '../support/fault/audit.ts';
import { Load } from '../support/fault/load.ts';
import { seedOfRun } from '../support/fault/random.ts';
import { organization, System, token } from '../support/fault/system.ts';
import { Timeline } from '../support/fault/timeline.ts';
import { until } from '../support/until.ts';

describe('redis at maxmemory', () => {
  let system: System;

  before(async () => {
    system = await System.start({ timeline: new Timeline(false) });
  });

  after(() => system.stop());

  it('rejects events while the workers cannot drain, and recovers by itself once they can', async () => {
    const used = await system.redis.use(async (redis) =>
      Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1]),
    );
    await system.redis.use((redis) => redis.config('SET', 'maxmemory', String(used + 12_000_000)));
    await system.postgres.kill('SIGINT');
    const load = new Load({ port: system.front.port, token, rate: 400, seed: seedOfRun(), large: true });
    load.start();
    const count = (status: number): number => load.ledger.statuses.get(status) ?? 0;
    await until('ingest rejects events', () => count(503) > 50, 60_000);
    const share = await system.redis.use(async (redis) => {
      const figure = (name: string, info: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1]);
      const info = await redis.info('memory');
      return figure('used_memory', info) / figure('maxmemory', info);
    });
    expect(share, 'share of maxmemory in use while it rejects').to.be.within(0.7, 0.95);

    await system.postgres.startAgain();
    const accepted = count(201);
    await until('201s resume', () => count(201) > accepted + 200, 30_000);
    await load.stop();
    await system.drained();
    const result = await audit(load.ledger, system, load.automations.ids, organization);
    expect(result).to.include({ lost: 0, doubled: 0, wrong: 0, unexpected: 0, invalidAnswers: 0 });
    expect(system.crashes).to.equal(0);
  });
});
