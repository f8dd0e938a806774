import createClient from 'openapi-fetch';
import type { paths } from './openapi-typescript/schema.js';
import { linesOf, magicOf, present, report, scenario, untilThere } from './scenario.js';

const { automation, execution, proven } = scenario;
const ingest = createClient<paths>({ baseUrl: scenario.ingest, headers: { token: scenario.writeToken } });
const record = createClient<paths>({ baseUrl: scenario.console, headers: { token: scenario.readToken } });
const run = { automation_id: automation, execution_id: execution };

const start = { ...run, event: 'START' as const };
const header = { 'Idempotency-Key': scenario.key };
const registered = await ingest.POST('/v1/register/', { body: start, params: { header } });
const bulk = await ingest.POST('/v1/register/bulk/', {
  body: [
    { ...run, event: 'EVENT' },
    { ...run, event: 'ERROR', error_id: 'E-1' },
    { ...run, event: 'END' },
  ],
  params: { query: { partial: true } },
});
const wrong = await ingest.POST('/v1/register/', { body: { ...start, automation_id: '7' } });

const path = run;
const query = { automation_id: automation };
const one = await untilThere(async () => {
  const { data } = await record.GET('/v1/executions/{automation_id}/{execution_id}/', { params: { path } });
  return data?.ended_at == null ? undefined : data;
});
const automations = await record.GET('/v1/automations/', { params: { query: { limit: 500 } } });
const detail = await record.GET('/v1/automations/{automation_id}/', { params: { path } });
const executions = await record.GET('/v1/executions/', { params: { query: { ...query, state: 'failed' } } });
const own = await record.GET('/v1/executions/{automation_id}/{execution_id}/events/', { params: { path } });
const events = await record.GET('/v1/events/', { params: { query: { ...query, kind: 'ERROR' } } });
const errors = await record.GET('/v1/errors/', { params: { query } });
const alerts = await record.GET('/v1/alerts/', { params: { query: { ...query, open: true } } });
const checkpoint = await record.GET('/v1/log/checkpoint', { parseAs: 'text' });
const tile = await record.GET('/v1/log/tile/{tile}', { params: { path: { tile: '0/000.p/1' } }, parseAs: 'blob' });
const proof = await record.GET('/v1/log/proof/{event_id}', { params: { path: { event_id: proven } }, parseAs: 'text' });
const exported = async (format: 'ndjson' | 'csv' | 'parquet'): Promise<Blob> => {
  const { data } = await record.GET('/v1/export/events/', { params: { query: { ...query, format } }, parseAs: 'blob' });
  return present(data as Blob | undefined);
};
const stream = await record.GET('/v1/stream/', { parseAs: 'stream' });
const { value: firstBytes } = await present(stream.data ?? undefined)
  .getReader()
  .read();

report({
  registered: registered.data?.type_of_event,
  bulk: Array.isArray(bulk.data) ? bulk.data.map(({ type_of_event: kind }) => kind) : bulk.data?.failed,
  fault:
    wrong.response.status === 400 && wrong.error && 'errors' in wrong.error ? wrong.error.errors?.[0]?.pointer : '',
  state: one.state,
  counts: one.counts,
  automation: automations.data?.items.find((item) => item.automation === automation)?.last_execution?.state,
  figures: detail.data?.window.counts.failed,
  executions: executions.data?.items.map((item) => item.execution_id),
  own: own.data?.items.map((item) => item.type_of_event),
  events: events.data?.items.map((item) => item.error_id),
  errors: errors.data?.items.map((item) => item.error_id),
  alerts: alerts.data?.items,
  checkpoint: checkpoint.data?.split('\n')[0],
  tile: tile.data === undefined ? 0 : (tile.data as unknown as Blob).size,
  proof: proof.data?.split('\n')[0],
  ndjson: linesOf(await (await exported('ndjson')).text()),
  csv: linesOf(await (await exported('csv')).text()),
  parquet: await magicOf(await exported('parquet')),
  stream: new TextDecoder().decode(firstBytes).startsWith('retry:'),
});
process.exit();
