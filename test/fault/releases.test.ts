import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Queue } from 'bullmq';
import { expect } from 'chai';
import { keyPrefix } from '../../internal/queue/keys.ts';
import { Load } from '../support/fault/load.ts';
import { audit } from '../support/fault/audit.ts';
import { seedOfRun } from '../support/fault/random.ts';
import { organization, queueName, System, token } from '../support/fault/system.ts';
import { Timeline } from '../support/fault/timeline.ts';
import { until } from '../support/until.ts';

describe('jobs of other releases', () => {
  let system: System;
  let queue: Queue;

  before(async () => {
    system = await System.start({ timeline: new Timeline(false) });
    const connection = { port: system.redis.port, host: '127.0.0.1' };
    queue = new Queue(queueName, { connection, prefix: keyPrefix, skipVersionCheck: true });
  });

  after(async () => {
    await queue.close();
    await system.stop();
  });

  it('a rollback: a job that only the newer release can read stays whole, and delays no other job', async () => {
    const data = { v: 2, columns: { id: [randomUUID()] } };
    const { id = '' } = await queue.add('events', data);
    const load = new Load({ port: system.front.port, token, rate: 100, seed: seedOfRun() });
    load.start();
    const unreadable = () => system.pod('worker-1').metric('runledger_jobs_unreadable_total');
    const others = () => system.pod('worker-2').metric('runledger_jobs_unreadable_total');
    await until('a worker has said that it cannot read it', async () => (await unreadable()) + (await others()) > 0);
    for (const slot of ['worker-1', 'worker-2'] as const) await system.replace(slot);
    await sleep(1_000);
    await load.stop();

    await until('all but that job is drained', async () => (await system.backlog()) === 1, 60_000);
    const found = await audit(load.ledger, system, load.automations.ids, organization);
    expect(found).to.include({ lost: 0, doubled: 0, wrong: 0, unexpected: 0, invalidAnswers: 0 });
    const job = await queue.getJob(id);
    expect(job?.data).to.deep.equal(data);
    expect(await job?.getState()).to.equal('delayed');
    await job?.remove();
  });

  it('an upgrade: a job that the older release wrote without compression is stored', async () => {
    const time = Date.now();
    const automation = randomUUID();
    const row = [
      '019539a4-3c00-7000-8000-000000000001',
      time,
      organization,
      automation.toUpperCase(),
      'older',
      'END',
      'text',
      '',
      '',
    ];
    await queue.add('events', { v: 1, rows: [row] }, { removeOnComplete: true });
    await system.drained();
    const rows = await system.query('select * from events where automation_id = $1', [automation]);
    expect(rows).to.have.lengthOf(1);
    expect(rows[0]).to.include({
      automation_as_sent: automation.toUpperCase(),
      execution_id: 'older',
      kind: 'END',
      description: 'text',
    });
    expect(rows[0]?.['created_at']).to.deep.equal(new Date(time));
  });
});
