import { endings } from '../event/closing.ts';
import { problemOfWindow } from '../expectation/mute.ts';
import { RequestError } from '../kit/errors/request-error.ts';
import type { Act as LoggedAct } from '../login/viewer.ts';
import type { ActKind, NewAct } from '../record/acts.ts';
import { answerJson } from './answer-json.ts';
import type { Endpoint } from './endpoint.ts';
import { Fault } from './fault.ts';
import {
  isObject,
  malformedBody,
  readObject,
  requestIdOf,
  unknownFields,
  type ManageOptions,
} from './manage-request.ts';
import { oneOf, recordedTime, storableText, uuid, type Parameter } from './parameters.ts';
import { readQuery } from './query.ts';

/** `GET /v1/mutes/`: the mutes in force or to come. */
export function listMutes({ record }: ManageOptions): Endpoint {
  return {
    path: '/v1/mutes/',
    answer: async (ctx) => {
      readQuery(ctx, {});
      const mutes = await record.listMutes(ctx.state.organization);
      const items = mutes.map(({ id, automation, note, by, at, until, window }) => ({
        id,
        automation,
        note,
        by,
        at,
        until,
        window: window && { schedule: window.schedule, time_zone: window.timeZone, duration: window.duration },
      }));
      answerJson(ctx, { items }, { changesAlways: true });
    },
  };
}

const kinds = ['mute', 'unmute', 'acknowledge', 'close', 'note'] as const;

/** Their names in the access log. */
const logged: Readonly<Record<ActKind, LoggedAct>> = {
  mute: 'muted',
  unmute: 'unmuted',
  acknowledge: 'acknowledged',
  close: 'closed',
  note: 'noted',
};

const fields = {
  kind: oneOf(kinds),
  note: storableText(1, 500),
  automation_id: uuid,
  execution_id: storableText(1, 500),
  alert: uuid,
  mute: uuid,
  as: oneOf(endings),
  until: recordedTime,
} as const satisfies Record<string, Parameter<unknown>>;

/** The fields of each kind; `?` marks those that may be absent. */
const given: Readonly<Record<ActKind, readonly string[]>> = {
  mute: ['note', 'automation_id?', 'until?', 'window?'],
  unmute: ['mute'],
  acknowledge: ['note', 'alert'],
  close: ['note', 'automation_id', 'execution_id', 'as'],
  note: ['note', 'automation_id', 'execution_id'],
};

/** `POST /v1/acts/`: mutes, ends a mute, acknowledges an alert, closes a run, or writes a note. */
export function doAct({ acts, noteFirst }: ManageOptions): Endpoint {
  return {
    path: '/v1/acts/',
    method: 'POST',
    answer: async (ctx) => {
      const { organization, tokenId } = ctx.state;
      const read = readAct(await readObject(ctx));
      const id = requestIdOf(ctx);
      const act = { ...read, organization, id, by: `manage token ${tokenId}` } as NewAct;
      const about = [read.automationId, read.alert, read.mute].find((one) => one !== undefined) ?? 'the organization';
      await noteFirst(ctx, logged[read.kind], about);
      if (!(await acts.add(act))) {
        throw new RequestError('not-found', 'There is nothing that this could be about: it is over, or never was.');
      }
      answerJson(ctx, { id, kind: read.kind }, { changesAlways: true });
      ctx.status = 201;
    },
  };
}

interface GivenAct {
  kind: ActKind;
  note: string;
  automationId: string | undefined;
  executionId: string | undefined;
  alert: string | undefined;
  mute: string | undefined;
  as: (typeof endings)[number] | undefined;
  until: Date | undefined;
  window: { schedule: string; timeZone: string; duration: string } | undefined;
}

/** @throws {RequestError} that names every faulty field. */
function readAct(body: Readonly<Record<string, unknown>>): GivenAct {
  const kind = kinds.find((each) => each === body['kind']);
  if (kind === undefined) throw malformedBody([{ pointer: '/kind', detail: `must be one of ${kinds.join(', ')}` }]);
  const allowed = given[kind].map((name) => name.replace('?', ''));
  const faults = unknownFields('', body, ['kind', ...allowed]);
  const read = (name: keyof typeof fields) => {
    const value = body[name];
    if (!allowed.includes(name)) return undefined;
    if (value === undefined && given[kind].includes(`${name}?`)) return undefined;
    const parse: Parameter<unknown> = fields[name];
    const found =
      typeof value === 'string' ? parse(value) : new Fault(value === undefined ? 'is required' : 'must be a text');
    if (!(found instanceof Fault)) return found;
    faults.push({ pointer: `/${name}`, detail: found.detail });
    return undefined;
  };
  const window = body['window'];
  const { schedule, time_zone: timeZone = 'UTC', duration } = isObject(window) ? window : {};
  const wanted =
    window === undefined
      ? undefined
      : { schedule: String(schedule), timeZone: String(timeZone), duration: String(duration) };
  const problem = wanted && problemOfWindow(wanted);
  if (problem !== undefined) faults.push({ pointer: '/window', detail: problem });
  const until = read('until') as string | undefined;
  const isLate = until !== undefined && Date.parse(until) <= Date.now();
  if (isLate) faults.push({ pointer: '/until', detail: 'must be in the future' });
  if (kind === 'mute' && until === undefined && wanted === undefined)
    faults.push({ pointer: '/until', detail: 'is required without a window' });
  const act: GivenAct = {
    kind,
    note: (read('note') as string | undefined) ?? '',
    automationId: read('automation_id') as string | undefined,
    executionId: read('execution_id') as string | undefined,
    alert: read('alert') as string | undefined,
    mute: read('mute') as string | undefined,
    as: read('as') as GivenAct['as'],
    until: until === undefined ? undefined : new Date(until),
    window: wanted,
  };
  if (faults.length > 0) throw malformedBody(faults);
  return act;
}
