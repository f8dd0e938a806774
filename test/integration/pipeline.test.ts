import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Answer } from '../support/api-client.ts';
import { query } from '../support/postgres-server.ts';
import { startIngest, startWorker } from '../support/pipeline.ts';
import { emptyRedis } from '../support/servers.ts';
import { migratedUrl } from '../support/store.ts';
import { until } from '../support/until.ts';

describe('pipeline', () => {
  it('brings an event from the request to Postgres, and counts its execution', async () => {
    const [redis, database] = await Promise.all([emptyRedis(), migratedUrl()]);
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

  it('records when late events happened, beside events that tell no time', async () => {
    const [redis, database] = await Promise.all([emptyRedis(), migratedUrl()]);
    const settings = { REDIS_URL: redis.url, DATABASE_URL: database };
    await using worker = await startWorker(settings);
    await using ingest = await startIngest(settings);
    expect(worker).to.not.equal(undefined);
    const began = Date.now() - 30 * 24 * 3_600_000;
    const ids = { automation_id: randomUUID(), execution_id: 'late' };
    const late = (event: string, after: number): Promise<Answer> =>
      ingest.client.register({ ...ids, event, occurred_at: new Date(began + after).toISOString() });

    const end = await late('END', 90_000);
    const start = await late('START', 0);
    for (const answer of [end, start]) {
      expect(answer.status, answer.body).to.equal(201);
      expect(Object.keys(answer.json())).to.deep.equal([
        'automation',
        'execution_id',
        'type_of_event',
        'description',
        'error_id',
        'error_description_detail',
        'created_at',
      ]);
    }
    await ingest.client.register({ automation_id: randomUUID(), execution_id: 'now', event: 'START' });
    const rows = await until('all three', async () => {
      const found = await query(database, 'select * from executions order by first_event_at');
      const complete = found.length === 2 && found[0]?.['start_count'] === 1 && found[0]['end_count'] === 1;
      return complete ? found : undefined;
    });
    const [first, last] = [new Date(began), new Date(began + 90_000)];
    expect(rows[0]).to.deep.include({ state: 'succeeded', first_event_at: first, started_at: first, ended_at: last });
    expect(rows[0]).to.deep.include({ last_event_at: last, start_late: false, event_after_end: false });
    expect(rows[0]?.['last_accepted_at']).to.deep.equal(new Date(String(start.json()['created_at'])));
    expect(rows[1]).to.include({ execution_id: 'now', last_accepted_at: null });
    const [event] = await query(database, `select * from events where kind = 'END'`);
    expect(event).to.deep.include({ occurred_at: last, created_at: new Date(String(end.json()['created_at'])) });
  });
});
