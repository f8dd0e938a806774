import {
  exportEvents,
  followRecord,
  getAutomation,
  getExecution,
  getLogCheckpoint,
  getLogProof,
  getLogTile,
  listAlerts,
  listAutomations,
  listErrors,
  listEvents,
  listEventsOfExecution,
  listExecutions,
  registerEvent,
  registerEvents,
} from './hey-api/index.js';
import { createClient } from './hey-api/client/index.js';
import { linesOf, magicOf, present, report, scenario, untilThere } from './scenario.js';

const { automation, execution, proven } = scenario;
const ingest = createClient({ baseUrl: scenario.ingest, auth: () => scenario.writeToken });
const client = createClient({ baseUrl: scenario.console, auth: () => scenario.readToken });
const run = { automation_id: automation, execution_id: execution };

const start = { ...run, event: 'START' as const };
const headers = { 'Idempotency-Key': scenario.key };
const registered = await registerEvent({ client: ingest, body: start, headers });
const bulk = await registerEvents({
  client: ingest,
  body: [
    { ...run, event: 'EVENT' },
    { ...run, event: 'ERROR', error_id: 'E-1' },
    { ...run, event: 'END' },
  ],
  query: { partial: true },
});
const wrong = await registerEvent({ client: ingest, body: { ...start, automation_id: '7' } });

const path = run;
const query = { automation_id: automation };
const one = await untilThere(async () => {
  const { data } = await getExecution({ client, path });
  return data?.ended_at == null ? undefined : data;
});
const automations = await listAutomations({ client, query: { limit: 500 } });
const detail = await getAutomation({ client, path });
const executions = await listExecutions({ client, query: { ...query, state: 'failed' } });
const own = await listEventsOfExecution({ client, path });
const events = await listEvents({ client, query: { ...query, kind: 'ERROR' } });
const errors = await listErrors({ client, query });
const alerts = await listAlerts({ client, query: { ...query, open: true } });
const checkpoint = await getLogCheckpoint({ client });
const tile = await getLogTile({ client, path: { tile: '0/000.p/1' } });
const proof = await getLogProof({ client, path: { event_id: proven } });
const ndjson = await exportEvents({ client, query: { ...query, format: 'ndjson' } });
const csv = await exportEvents({ client, query: { ...query, format: 'csv' }, parseAs: 'text' });
const parquet = await exportEvents({ client, query: { ...query, format: 'parquet' } });
const { stream } = await followRecord({ client });
const waiting = stream.next();
await registerEvent({ client: ingest, body: { ...run, event: 'WARNING' } });
const message = await waiting;

report({
  registered: registered.data?.type_of_event,
  bulk: Array.isArray(bulk.data) ? bulk.data.map(({ type_of_event: kind }) => kind) : bulk.data?.failed,
  fault:
    wrong.response?.status === 400 && wrong.error && 'errors' in wrong.error ? wrong.error.errors?.[0]?.pointer : '',
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
  tile: present(tile.data).size,
  proof: proof.data?.split('\n')[0],
  ndjson: linesOf(await present(ndjson.data).text()),
  csv: linesOf(String(csv.data)),
  parquet: await magicOf(present(parquet.data)),
  stream: message.value !== undefined,
});
process.exit();
