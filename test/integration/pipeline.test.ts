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

    const ids = { automation_id: automation, execution_id: 'run 1' };
    const start = await ingest.client.register({ ...ids, event: 'START' });
    expect(start.status, start.body).to.equal(201);
    const texts = { description: 'It broke.', error_id: 'E-7', error_description: 'stack 🪵' };
    const error = await ingest.client.register({ ...ids, event: 'ERROR', ...texts });
    expect(error.status, error.body).to.equal(201);
    const [row] = await until('the execution', async () => {
      const rows = await query(database, 'select * from executions where error_count = 1 and start_count = 1');
      return rows.length > 0 ? rows : undefined;
    });
    expect(row).to.include({ organization: 'acme', automation_id: automation.toLowerCase(), state: 'failed' });
    const events = await query(database, 'select * from events order by created_at, id');
    expect(events.map((event) => event['kind'])).to.deep.equal(['START', 'ERROR']);
    expect(events[1]).to.include({ automation_as_sent: automation, error_description: 'stack 🪵' });
    expect(events[1]?.['created_at']).to.deep.equal(new Date(String(error.json()['created_at'])));
  });
});
