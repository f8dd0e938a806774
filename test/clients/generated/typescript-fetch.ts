import {
  Configuration,
  EventKind,
  EventRequestEventEnum,
  EventsApi,
  ExecutionState,
  ExportEventsFormatEnum,
  RecordApi,
  ResponseError,
  type ProblemWithErrors,
} from './typescript-fetch/index.js';
import { linesOf, magicOf, report, scenario, untilThere } from './scenario.js';

const { automation, execution, proven } = scenario;
const ingest = new EventsApi(new Configuration({ basePath: scenario.ingest, apiKey: scenario.writeToken }));
const record = new RecordApi(new Configuration({ basePath: scenario.console, apiKey: scenario.readToken }));
const run = { automationId: automation, executionId: execution };

const start = { ...run, event: EventRequestEventEnum.Start };
const registered = await ingest.registerEvent({ eventRequest: start, idempotencyKey: scenario.key });
const bulk = await ingest.registerEvents({
  keyedEvent: [
    { ...run, event: EventRequestEventEnum.Event },
    { ...run, event: EventRequestEventEnum.Error, errorId: 'E-1' },
    { ...run, event: EventRequestEventEnum.End },
  ],
  partial: true,
});
const fault = await ingest.registerEvent({ eventRequest: { ...start, automationId: '7' } }).then(
  () => '',
  async (error: unknown) => {
    if (!(error instanceof ResponseError) || error.response.status !== 400) throw error;
    return ((await error.response.json()) as ProblemWithErrors).errors?.[0]?.pointer;
  },
);

const one = await untilThere(async () => {
  const answer = await record.getExecution(run).catch((error: unknown) => {
    if (error instanceof ResponseError && error.response.status === 404) return undefined;
    throw error;
  });
  return answer === undefined || answer.endedAt === null ? undefined : answer;
});
const automations = await record.listAutomations({ limit: 500 });
const detail = await record.getAutomation(run);
const executions = await record.listExecutions({ automationId: automation, state: ExecutionState.Failed });
const own = await record.listEventsOfExecution(run);
const events = await record.listEvents({ automationId: automation, kind: EventKind.Error });
const errors = await record.listErrors({ automationId: automation });
const alerts = await record.listAlerts({ automationId: automation, open: true });
const tile = await record.getLogTile({ tile: '0/000.p/1' });
const exported = (format: ExportEventsFormatEnum): Promise<Blob> =>
  record.exportEvents({ automationId: automation, format });
const stream = await record.followRecordRaw({});
const { value: firstBytes } = (await stream.raw.body?.getReader().read()) ?? {};

report({
  registered: registered.typeOfEvent,
  bulk: bulk.map((item) => item.typeOfEvent),
  fault,
  state: one.state,
  // It writes the first letter of a name small.
  counts: Object.fromEntries(Object.entries(one.counts).map(([kind, count]) => [kind.toUpperCase(), count])),
  automation: automations.items.find((item) => item.automation === automation)?.lastExecution?.state,
  figures: detail.window.counts.failed,
  executions: executions.items.map((item) => item.executionId),
  own: own.items.map((item) => item.typeOfEvent),
  events: events.items.map((item) => item.errorId),
  errors: errors.items.map((item) => item.errorId),
  alerts: alerts.items,
  checkpoint: (await record.getLogCheckpoint()).split('\n')[0],
  tile: tile.size,
  proof: (await record.getLogProof({ eventId: proven })).split('\n')[0],
  ndjson: linesOf(await (await exported(ExportEventsFormatEnum.Ndjson)).text()),
  csv: linesOf(await (await exported(ExportEventsFormatEnum.Csv)).text()),
  parquet: await magicOf(await exported(ExportEventsFormatEnum.Parquet)),
  stream: new TextDecoder().decode(firstBytes).startsWith('retry:'),
});
process.exit();
