import { RequestError, type FieldError } from '../../kit/errors/request-error.ts';
import { foreignTime } from '../../event/foreign-time.ts';
import { fieldLimits, type EventRequest } from '../../event/schema.ts';
import type { RepeatKey } from '../../event/repeat-key.ts';
import { cutText, faultOfText, storable } from '../../event/stored-text.ts';
import type { Fields, Projected } from '../bodies/json-projection.ts';
import { urlNamespace, uuid5 } from '../../kit/uuid5.ts';

const types = ['START', 'RUNNING', 'COMPLETE', 'ABORT', 'FAIL', 'OTHER'];

/** Longest namespace and name of a job, in Unicode characters. */
const longestName = 4_096;

/** The fields of an OpenLineage event that Runledger reads. All others are dropped. */
export const lineageShape = {
  eventType: 100,
  eventTime: 100,
  run: { runId: 10_000, facets: { errorMessage: { message: 200_000 } } },
  job: { namespace: longestName + 1, name: longestName + 1 },
  dataset: {},
} as const satisfies Fields;

/** The events to record for a run event, their idempotency key, and the name of the job. */
export interface KeyedRequests {
  requests: EventRequest[];
  key: RepeatKey;
  name: string;
}

export interface LineageOptions {
  validate: (body: unknown) => EventRequest;
}

/**
 * Returns the events of a run event (docs/design/ways-in.md). Undefined for an event about a job or
 * a data set, which has no run.
 * @throws {RequestError} that names each failing field.
 */
export function requestsOf(event: Projected, { validate }: LineageOptions): KeyedRequests | undefined {
  if (!isObject(event)) throw invalid([{ pointer: '', detail: 'must be a JSON object' }]);
  if (isWithoutRun(event)) return undefined;
  const type = textOf(event['eventType'] ?? 'OTHER');
  const { runId, facets } = fieldsOf(event['run']);
  const { namespace, name } = fieldsOf(event['job']);
  const time = event['eventTime'];
  const { instant, occurredAt } = foreignTime(textOf(time)) ?? { instant: '', occurredAt: textOf(time) };
  const ids = { automation_id: automationOf(namespace, name), execution_id: textOf(runId), occurred_at: occurredAt };
  const faults = [
    ...(types.includes(type) ? [] : [{ pointer: '/eventType', detail: `must be one of ${types.join(', ')}` }]),
    ...nameFaults('/job/namespace', namespace),
    ...nameFaults('/job/name', name),
    ...faultsOf(validate, ids, { '/execution_id': runId, '/occurred_at': time }),
  ];
  if (faults.length > 0) throw invalid(faults);
  const message = fieldsOf(fieldsOf(facets)['errorMessage'])['message'];
  const parts = partsOf(type, `${textOf(namespace)} ${textOf(name)}`, textOf(message));
  return {
    requests: parts.map((part) => ({ ...ids, ...part })),
    key: ['lineage', ids.automation_id, ids.execution_id, type, instant],
    name: `${textOf(namespace)}/${textOf(name)}`,
  };
}

/** The automation of a job. docs/report/openlineage.md tells users how to compute it. */
function automationOf(namespace: Projected | undefined, name: Projected | undefined): string {
  return uuid5(uuid5(urlNamespace, textOf(namespace)), textOf(name));
}

type Part = Omit<EventRequest, 'automation_id' | 'execution_id'>;

function partsOf(type: string, job: string, message: string): Part[] {
  if (type === 'START') return [{ event: 'START', description: cutText(job, fieldLimits.description) }];
  if (type === 'COMPLETE') return [{ event: 'END' }];
  if (type !== 'FAIL' && type !== 'ABORT') return [{ event: 'EVENT', description: type }];
  const error_description = storable(message, fieldLimits.errorDescription);
  return [{ event: 'ERROR', error_id: type, error_description }, { event: 'END' }];
}

/** True for an event about a job or a data set; only run events have an `eventType`. */
function isWithoutRun({ eventType, run, job, dataset }: Record<string, Projected>): boolean {
  const isGiven = (value: Projected | undefined): boolean => value !== undefined && value !== null;
  return !isGiven(run) && !isGiven(eventType) && (isGiven(job) || isGiven(dataset));
}

/** Maps the contract's rules to faults of the fields that the ids come from. */
function faultsOf(
  validate: LineageOptions['validate'],
  ids: Omit<EventRequest, 'event'>,
  given: Record<string, Projected | undefined>,
): FieldError[] {
  const fields: Record<string, string> = { '/execution_id': '/run/runId', '/occurred_at': '/eventTime' };
  const missing = Object.keys(fields).filter((pointer) => typeof given[pointer] !== 'string');
  const faults = missing.flatMap((pointer) => textFaults(fields[pointer] ?? '', given[pointer]));
  try {
    validate({ ...ids, event: 'EVENT' });
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    for (const fault of error.faults) {
      if (!('pointer' in fault) || missing.includes(fault.pointer)) continue;
      faults.push({ ...fault, pointer: fields[fault.pointer] ?? fault.pointer });
    }
  }
  return faults;
}

function nameFaults(pointer: string, value: Projected | undefined): FieldError[] {
  if (typeof value !== 'string' || value === '') return textFaults(pointer, value);
  const detail = faultOfText(value, longestName);
  return detail === undefined ? [] : [{ pointer, detail }];
}

function textFaults(pointer: string, value: Projected | undefined): FieldError[] {
  if (value === undefined || value === null) return [{ pointer, detail: 'is required' }];
  return [{ pointer, detail: 'must be a string that is not empty' }];
}

function isObject(value: Projected | undefined): value is Record<string, Projected> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function fieldsOf(value: Projected | undefined): Record<string, Projected> {
  return isObject(value) ? value : {};
}

function textOf(value: Projected | undefined): string {
  return typeof value === 'string' ? value : '';
}

function invalid(faults: readonly FieldError[]): RequestError {
  return new RequestError('invalid-event', 'The body is not a valid OpenLineage event; see errors.', faults);
}
