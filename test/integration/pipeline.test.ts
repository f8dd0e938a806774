import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { query } from '../support/postgres-server.ts';
import { startIngest, startWorker } from '../support/pipeline.ts';
import { emptyDatabase, emptyRedis } from '../support/servers.ts';
import { until } from '../support/until.ts';

describe('pipeline', () => {
  it('brings an event from the request to Postgres, and counts its execution', async () => {
    const [redis, database] = await Promise.all([emptyRedis(), emptyDatabase()]);
    const settings = { REDIS_URL: redis.url, DATABASE_URL: database };
    await using worker = await startWorker(settings);
    await using ingest = await startIngest(settings);
    expect(worker).to.not.equal(undefined);
    const automation = randomUUID().toUpperCase();

    const start = await ingest.client.register({ automation_id: automation, execution_id: 'run 1', event: 'START' });
    expect(start.status, start.body).to.equal(201);
    const error = await ingest.client.register({
      automation_id: automation,
      execution_id: 'run 1',
      event: 'ERROR',
      description: 'It broke.',
      error_id: 'E-7',
      error_description: 'stack 🪵',
    });

    expect(error.status).to.equal(201);
    const { created_at, ...recorded } = error.json();
    expect(created_at).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(recorded).to.deep.equal({
      automation,
      execution_id: 'run 1',
      type_of_event: 'ERROR',
      description: 'It broke.',
      error_id: 'E-7',
      error_description_detail: 'stack 🪵',
    });
    const [row] = await until('the execution', async () => {
      const rows = await query(database, 'select * from executions where error_count = 1 and start_count = 1');
      return rows.length > 0 ? rows : undefined;
    });
    expect(row).to.include({ organization: 'acme', automation_id: automation.toLowerCase(), state: 'failed' });
    const events = await query(database, 'select * from events order by created_at, id');
    expect(events.map((event) => event['kind'])).to.deep.equal(['START', 'ERROR']);
    expect(events[1]).to.include({ automation_as_sent: automation, error_description: 'stack 🪵' });
    expect(events[1]?.['created_at']).to.deep.equal(new Date(String(created_at)));
  });
});
