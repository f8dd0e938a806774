import { storable } from '../../event/stored-text.ts';
import { urlNamespace, uuid5 } from '../../kit/uuid5.ts';

/** The types of Tekton events that Runledger records. */
const form = /^dev\.tekton\.event\.(taskrun|pipelinerun)\.(started|queued|running|unknown|successful|failed)\.v1$/;

const ofResource = {
  taskrun: { root: 'taskRun', title: 'TaskRun', reference: 'taskRef', label: 'tekton.dev/task', kind: 'task' },
  pipelinerun: {
    root: 'pipelineRun',
    title: 'PipelineRun',
    reference: 'pipelineRef',
    label: 'tekton.dev/pipeline',
    kind: 'pipeline',
  },
} as const;

/** The annotation of a run, or of its Task or Pipeline, that names the automation. */
const automationAnnotation = 'runledger.dev/automation-id';

/** The form of Tekton's types, for people. */
export const tektonTypes = 'dev.tekton.event.taskrun.* and .pipelinerun.*';

/** What a CloudEvent says, as unvalidated requests to record events. */
export interface CloudEventRequests {
  /** All have the same ids. */
  readonly requests: readonly Fields[];
  /** The data path of a field that does not come from the field of its name. */
  readonly pointers: Readonly<Record<string, string>>;
  /** The message's name for the automation, if its id is derived from that name. */
  readonly name?: string | undefined;
}

/** Limits of Tekton's texts, in characters. */
const longest = { description: 2_000, errorId: 255, errorDescription: 10_000 };

/**
 * Returns the events to record for a Tekton event (docs/design/ways-in.md); undefined for any other
 * type.
 */
export function tektonRequests(type: string, time: unknown, data: unknown): CloudEventRequests | undefined {
  const [, resource, change] = form.exec(type) ?? [];
  if (resource === undefined || change === undefined) return undefined;
  const { root, title, ...names } = ofResource[resource as keyof typeof ofResource];
  const run = fieldsOf(fieldsOf(data)[root]);
  const [metadata, status] = [fieldsOf(run['metadata']), fieldsOf(run['status'])];
  const pointer = `/${root}/metadata`;
  const { automationId, name } = automationOf(run, names);
  const identity = { automation_id: automationId, execution_id: metadata['uid'] };
  const parts = partsOf(change, `${title} ${textOf(metadata['name'])}`, succeeded(status));
  const timeField = ({ started: 'startTime', successful: 'completionTime', failed: 'completionTime' } as Fields)[
    change
  ];
  const ownTime = status[textOf(timeField)];
  return {
    name,
    requests: parts.map((part) => ({ ...identity, ...part, occurred_at: ownTime ?? time })),
    pointers: {
      '/automation_id': `${pointer}/annotations/${automationAnnotation.replace('/', '~1')}`,
      '/execution_id': `${pointer}/uid`,
      ...(ownTime !== undefined && { '/occurred_at': `/${root}/status/${textOf(timeField)}` }),
    },
  };
}

interface Names {
  readonly reference: string;
  readonly label: string;
  readonly kind: string;
}

/** docs/report/cloudevents.md tells users how to compute the id. */
function automationOf(run: Fields, { reference, label, kind }: Names): { automationId: unknown; name?: string } {
  const metadata = fieldsOf(run['metadata']);
  const annotated = fieldsOf(metadata['annotations'])[automationAnnotation];
  if (annotated !== undefined) return { automationId: annotated };
  const referred = textOf(fieldsOf(fieldsOf(run['spec'])[reference])['name']);
  const labelled = textOf(fieldsOf(metadata['labels'])[label]);
  const generated = textOf(metadata['generateName']).replace(/-$/, '');
  const own = [referred, labelled, generated, textOf(metadata['name'])].find((one) => one !== '') ?? '';
  const [namespace, name] = [textOf(metadata['namespace']), `${kind}/${own}`];
  return { automationId: uuid5(uuid5(urlNamespace, namespace), name), name: `${namespace}/${name}` };
}

function partsOf(change: string, title: string, { reason, message }: Condition): Fields[] {
  const describe = (text: string) => storable(text, longest.description);
  if (change === 'started') return [{ event: 'START', description: describe(title) }];
  if (change === 'successful') return [{ event: 'END' }];
  if (change !== 'failed') return [{ event: 'EVENT', description: describe(`${reason}: ${message}`) }];
  const [errorId, details] = [storable(reason, longest.errorId), storable(message, longest.errorDescription)];
  const error = { description: describe(`${title} failed`), error_id: errorId, error_description: details };
  return [{ event: 'ERROR', ...error }, { event: 'END' }];
}

interface Condition {
  readonly reason: string;
  readonly message: string;
}

function succeeded(status: Fields): Condition {
  const conditions: unknown[] = Array.isArray(status['conditions']) ? status['conditions'] : [];
  const found = fieldsOf(conditions.find((one) => fieldsOf(one)['type'] === 'Succeeded'));
  return { reason: textOf(found['reason']), message: textOf(found['message']) };
}

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
