import { randomUUID } from 'node:crypto';
import type { Request } from './api-client.ts';
import { pingKey } from './pipeline.ts';
import { condition, taskRun, tektonHeaders } from './tekton-events.ts';

/** An ERROR that each way in can tell. */
export interface Failure {
  automation: string;
  execution: string;
  text: string;
  /** More fields beside those of the event, where the form has such. */
  more?: Record<string, unknown>;
}

/** A way in to the record: how a client writes a failure there. */
export interface WayIn {
  name: string;
  path: (failure: Failure) => string;
  headers: () => Request['headers'];
  body: (failure: Failure) => string;
  /** The status of a receipt. */
  receipt: number;
  /** Largest body, in bytes. */
  limit: number;
  /** A JSON pointer, or the name of a parameter, of the execution's id. */
  idAt: string;
  /** What stands before an ignored field; absent where another specification has many. */
  ignoredAt?: string;
  /** False for a body of any text. */
  isJson: boolean;
}

const mebi = 1_024 * 1_024;
const json = () => ({ 'content-type': 'application/json' });
const typed = (type: string) => () => ({ 'content-type': type });

const fieldsOf = ({ automation, execution, text, more }: Failure) => ({
  automation_id: automation,
  execution_id: execution,
  error_description: text,
  ...more,
});
const eventOf = (failure: Failure) => ({ ...fieldsOf(failure), event: 'ERROR' });
const attributes = () => ({
  specversion: '1.0',
  type: 'dev.runledger.error',
  source: '/ways',
  id: randomUUID(),
});
const cloudEventOf = (failure: Failure) => ({ ...attributes(), data: fieldsOf(failure) });
const binary = () => ({
  ...json(),
  ...Object.fromEntries(Object.entries(attributes()).map(([name, value]) => [`ce-${name}`, value])),
});
const runEventOf = ({ automation, execution, text }: Failure) => ({
  eventType: 'FAIL',
  eventTime: new Date().toISOString(),
  run: { runId: execution, facets: { errorMessage: { message: text } } },
  job: { namespace: 'ways', name: automation },
});

const one = <T>(value: T): string => JSON.stringify(value);
const list = <T>(value: T): string => JSON.stringify([value]);

const register = { path: () => '/v1/register/', receipt: 201, limit: 262_144, isJson: true };
const bulk = { path: () => '/v1/register/bulk/', receipt: 201, limit: 2 * mebi, isJson: true };
const cloud = { path: () => '/v1/cloudevents/', receipt: 201, limit: 2 * mebi, isJson: true };
const lineage = { receipt: 200, limit: 64 * mebi, isJson: true };

/** Every way in; an event of each is an ERROR of the execution with the text as its details. */
export const waysIn: readonly WayIn[] = [
  {
    name: 'register',
    ...register,
    headers: json,
    body: (f) => one(eventOf(f)),
    idAt: '/execution_id',
    ignoredAt: '',
  },
  {
    name: 'bulk',
    ...bulk,
    headers: json,
    body: (f) => list(eventOf(f)),
    idAt: '/0/execution_id',
    ignoredAt: '/0',
  },
  {
    name: 'bulk in lines',
    ...bulk,
    headers: typed('application/x-ndjson'),
    body: (f) => `${one(eventOf(f))}\n`,
    idAt: '/0/execution_id',
    ignoredAt: '/0',
  },
  {
    name: 'CloudEvents in binary mode',
    ...cloud,
    headers: binary,
    body: (f) => one(fieldsOf(f)),
    idAt: '/data/execution_id',
    ignoredAt: '/data',
  },
  {
    name: 'CloudEvents in structured mode',
    ...cloud,
    headers: typed('application/cloudevents+json'),
    body: (f) => one(cloudEventOf(f)),
    idAt: '/data/execution_id',
    ignoredAt: '/data',
  },
  {
    name: 'CloudEvents in batch mode',
    ...cloud,
    headers: typed('application/cloudevents-batch+json'),
    body: (f) => list(cloudEventOf(f)),
    idAt: '/0/data/execution_id',
    ignoredAt: '/0/data',
  },
  {
    name: 'Tekton',
    ...cloud,
    headers: () => tektonHeaders('taskrun.failed', 'ways', randomUUID(), new Date().toISOString()),
    body: (f) => one({ taskRun: taskRun({ uid: f.execution }, condition('False', 'Failed', f.text)) }),
    idAt: '/data/taskRun/metadata/uid',
  },
  {
    name: 'OpenLineage',
    ...lineage,
    path: () => '/api/v1/lineage',
    headers: json,
    body: (f) => one(runEventOf(f)),
    idAt: '/run/runId',
  },
  {
    name: 'OpenLineage in a batch',
    ...lineage,
    path: () => '/api/v1/lineage/batch',
    headers: json,
    body: (f) => list(runEventOf(f)),
    idAt: '/0/run/runId',
  },
  {
    name: 'a ping',
    path: ({ automation, execution }) =>
      `/ping/${pingKey}/${automation}/fail?rid=${encodeURIComponent(execution).replaceAll('.', '%2E')}`,
    headers: () => ({ token: undefined }),
    body: ({ text }) => text,
    receipt: 200,
    limit: 16 * mebi,
    idAt: 'rid',
    isJson: false,
  },
];

/** A failure of a run of its own. */
export function aFailure(given: Partial<Failure> = {}): Failure {
  return { automation: randomUUID(), execution: randomUUID(), text: 'out of paper', ...given };
}
