import { expect } from 'chai';
import { flawless } from '../support/fault/audit.ts';
import { sharedSystem } from '../support/fault/shared-system.ts';
import { memoryLimit, type System } from '../support/fault/system.ts';
import { until } from '../support/until.ts';

describe('redis at maxmemory', () => {
  let system: System;

  before(async () => {
    system = await sharedSystem();
  });

  it('rejects events while the workers cannot drain, and recovers by itself once they can', async () => {
    const { redis, postgres } = system;
    await redis.command('config', 'set', 'maxmemory', String((await redis.memory()).used + 12_000_000));
    await postgres.kill('SIGINT');
    const load = system.startLoad({ rate: 400, large: true });
    await until('ingest rejects events', () => load.ledger.count(503) > 50, 60_000);
    const { used, limit } = await redis.memory();
    expect(used / limit, 'share of maxmemory in use while it rejects').to.be.within(0.7, 0.95);

    await postgres.startAgain();
    const accepted = load.ledger.count(201);
    await until('201s resume', () => load.ledger.count(201) > accepted + 200, 30_000);
    expect((await system.settle(load)).found).to.include(flawless);
    await redis.command('config', 'set', 'maxmemory', memoryLimit);
    expect(system.crashes).to.equal(0);
  });
});
