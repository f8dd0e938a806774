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
} from './orval/client.js';
import { linesOf, magicOf, report, scenario, untilThere } from './scenario.js';

const { automation, execution, proven } = scenario;
const run = { automation_id: automation, execution_id: execution };
const write = { headers: { token: scenario.writeToken } };
const read = { headers: { token: scenario.readToken } };

// Its addresses are relative, as in a browser.
const { fetch } = globalThis;
globalThis.fetch = (path, init) => {
  const base = String(path).startsWith('/v1/register/') ? scenario.ingest : scenario.console;
  return fetch(new URL(String(path), base), init);
};

const start = { ...run, event: 'START' as const };
const registered = await registerEvent(start, { headers: { ...write.headers, 'Idempotency-Key': scenario.key } });
const bulk = await registerEvents(
  [
    { ...run, event: 'EVENT' },
    { ...run, event: 'ERROR', error_id: 'E-1' },
    { ...run, event: 'END' },
  ],
  { partial: true },
  { headers: { ...write.headers, 'content-type': 'application/json' } },
);
const wrong = await registerEvent({ ...start, automation_id: '7' }, write);

const query = { automation_id: automation };
const one = await untilThere(async () => {
  const answer = await getExecution(automation, execution, read);
  return answer.status === 200 && answer.data.ended_at !== null ? answer.data : undefined;
});

/** What an answer of success says. */
function succeeded<T extends { status: number; data: unknown }>(answer: T): Extract<T, { status: 200 }>['data'] {
  if (answer.status !== 200) throw new Error(`${answer.status}: ${JSON.stringify(answer.data)}`);
  return answer.data;
}
const automations = succeeded(await listAutomations({ limit: 500 }, read));
const detail = succeeded(await getAutomation(automation, {}, read));
const executions = succeeded(await listExecutions({ ...query, state: 'failed' }, read));
const own = succeeded(await listEventsOfExecution(automation, execution, {}, read));
const events = succeeded(await listEvents({ ...query, kind: 'ERROR' }, read));
const errors = succeeded(await listErrors(query, read));
const alerts = succeeded(await listAlerts({ ...query, open: true }, read));
const checkpoint = succeeded(await getLogCheckpoint(read));
const tile = succeeded(await getLogTile('0/000.p/1', read));
const proof = succeeded(await getLogProof(proven, read));
const exported = async (format: 'ndjson' | 'csv' | 'parquet'): Promise<Blob> => {
  const answer = await exportEvents({ ...query, format }, read);
  if (!('stream' in answer)) throw new Error(String(answer.status));
  return await answer.stream.blob();
};
// It waits for the end of an answer, and a stream has none.
const endless = await followRecord({ ...read, signal: AbortSignal.timeout(1_000) }).catch((error: Error) => error.name);

report({
  registered: registered.status === 201 ? registered.data.type_of_event : registered.data,
  bulk: bulk.status === 201 ? bulk.data.map(({ type_of_event: kind }) => kind) : bulk.data,
  fault: wrong.status === 400 ? wrong.data.errors?.[0]?.pointer : wrong.data,
  state: one.state,
  counts: one.counts,
  automation: automations.items.find((item) => item.automation === automation)?.last_execution?.state,
  figures: detail.window.counts.failed,
  executions: executions.items.map((item) => item.execution_id),
  own: own.items.map((item) => item.type_of_event),
  events: events.items.map((item) => item.error_id),
  errors: errors.items.map((item) => item.error_id),
  alerts: alerts.items,
  checkpoint: checkpoint.split('\n')[0],
  tile: tile.size,
  proof: proof.split('\n')[0],
  ndjson: linesOf(await (await exported('ndjson')).text()),
  csv: linesOf(await (await exported('csv')).text()),
  parquet: await magicOf(await exported('parquet')),
  stream: endless === 'TimeoutError',
});
process.exit();
