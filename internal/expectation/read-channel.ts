import { isUuid } from '../event/uuid.ts';
import { Fields } from './fields.ts';
import { isTimeZone } from './zone.ts';

/** What a channel speaks: signed CloudEvents to a program, or messages to people. */
export const channelTypes = ['webhook', 'email', 'slack', 'teams', 'googlechat', 'discord', 'ntfy'] as const;
export type ChannelType = (typeof channelTypes)[number];

/** What the outbox calls the Alertmanagers of the installation, which are no `Channel`. */
export const alertmanagerNamespace = 'runledger.alertmanager';

/** The kinds of notifications that a `Channel` may name. */
export const channelKinds = [
  'automation.missing',
  'automation.late',
  'automation.overrunning',
  'automation.failing',
  'automation.lost',
  'automation.unknown',
  'automation.resolved',
  'execution.started',
  'execution.succeeded',
  'execution.failed',
] as const;

/** A part of each day in which messages wait; `from` and `to` as HH:MM. */
export interface QuietHours {
  from: string;
  to: string;
  /** An IANA time zone. */
  timeZone: string;
}

/** The `spec` of a `Channel`, checked and complete. */
export interface ChannelSpec {
  type: ChannelType;
  /** The address of a webhook. Of a chat it is a secret, and empty here. */
  url: string;
  /** The addresses of an email channel. */
  to: string[];
  /** Name of the Secret with the signing keys of a webhook or the address of a chat; or empty. */
  secretRef: string;
  /** If empty, all kinds about automations. */
  kinds: string[];
  filter: { automations?: string[]; owners?: string[]; tags?: string[] };
  quietHours: QuietHours | null;
}

/** A checked declaration, or all of its problems as `field: problem`. */
export type ReadChannel = { spec: ChannelSpec; problems: [] } | { spec?: undefined; problems: string[] };

/** The format of a Secret's name. */
const secretName = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;

/** An address without a display name. Mail servers decide about the rest. */
const mailAddress = /^[^\s@<>,;:"()[\]\\]+@[^\s@<>,;:"()[\]\\]+$/;

/** Checks the `spec` of a `Channel`. */
export function readChannel(given: unknown): ReadChannel {
  const fields = new Fields(given, '');
  fields.only(['type', 'url', 'to', 'secretRef', 'kinds', 'filter', 'quietHours']);
  const type = readType(fields);
  const spec: ChannelSpec = {
    type,
    url:
      type === 'webhook'
        ? readUrl(fields)
        : unused(fields, 'url', 'only a webhook has it; that of a chat is in its Secret'),
    to: type === 'email' ? readRecipients(fields) : unused(fields, 'to', 'only an email channel has it') || [],
    secretRef: type === 'email' ? unused(fields, 'secretRef', 'an email channel has none') : readSecretRef(fields),
    kinds: readKinds(fields),
    filter: readFilter(fields),
    quietHours: readQuietHours(fields),
  };
  return fields.problems.length === 0 ? { spec, problems: [] } : { problems: fields.problems };
}

function readType(fields: Fields): ChannelType {
  const text = fields.text('type', 20) ?? fields.missing('type') ?? '';
  const type = channelTypes.find((known) => known === text);
  if (type === undefined && text !== '') fields.problem('type', `must be one of ${channelTypes.join(', ')}`);
  return type ?? 'webhook';
}

function unused(fields: Fields, name: string, why: string): '' {
  if (fields.has(name)) fields.problem(name, `must be absent: ${why}`);
  return '';
}

function readUrl(fields: Fields): string {
  const text = fields.text('url', 2_048) ?? fields.missing('url') ?? '';
  const problem = text === '' ? undefined : problemOfUrl(text);
  if (problem !== undefined) fields.problem('url', problem);
  return text;
}

/** Why an address cannot be that of a receiver. */
export function problemOfUrl(text: string): string | undefined {
  const url = URL.parse(text);
  if (url?.protocol !== 'https:') return 'must be an address that begins with https://';
  if (url.username !== '' || url.password !== '') return 'must not hold a user name or password';
  return undefined;
}

function readRecipients(fields: Fields): string[] {
  const to = fields.texts('to', 20, 320) ?? fields.missing('to') ?? [];
  if (fields.has('to') && to.length === 0) fields.problem('to', 'must hold an address');
  for (const address of to) if (!mailAddress.test(address)) fields.problem('to', `${address} is not a mail address`);
  return to;
}

function readSecretRef(fields: Fields): string {
  const secretRef = fields.group('secretRef') ?? fields.missing('secretRef');
  secretRef?.only(['name']);
  const name = secretRef?.text('name', 253) ?? secretRef?.missing('name') ?? '';
  if (name !== '' && !secretName.test(name)) secretRef?.problem('name', 'must be the name of a Secret');
  return name;
}

function readKinds(fields: Fields): string[] {
  const kinds = fields.texts('kinds', 20, 100) ?? [];
  for (const kind of kinds) {
    if (!channelKinds.some((known) => known === kind)) {
      fields.problem('kinds', `${kind} is unknown; known are ${channelKinds.join(', ')}`);
    }
  }
  return kinds;
}

function readFilter(fields: Fields): ChannelSpec['filter'] {
  const filter = fields.group('filter');
  filter?.only(['automations', 'owners', 'tags']);
  const automations = filter?.texts('automations', 500, 36);
  for (const id of automations ?? []) if (!isUuid(id)) filter?.problem('automations', `${id} is not a UUID`);
  const owners = filter?.texts('owners', 100, 200);
  const tags = filter?.texts('tags', 20, 50);
  return { ...(automations && { automations }), ...(owners && { owners }), ...(tags && { tags }) };
}

function readQuietHours(fields: Fields): QuietHours | null {
  const quiet = fields.group('quietHours');
  if (quiet === undefined) return null;
  quiet.only(['from', 'to', 'timeZone']);
  const [from = '', to = ''] = (['from', 'to'] as const).map((name) => {
    const text = quiet.text(name, 5) ?? quiet.missing(name) ?? '';
    if (text !== '' && !/^([01]\d|2[0-3]):[0-5]\d$/.test(text)) quiet.problem(name, 'must be a time such as 22:00');
    return text;
  });
  if (from !== '' && from === to) quiet.problem('to', 'must differ from `from`');
  const timeZone = quiet.text('timeZone', 100) ?? 'UTC';
  if (!isTimeZone(timeZone)) {
    quiet.problem('timeZone', 'must be a time zone of the IANA database, such as Europe/Madrid');
  }
  return { from, to, timeZone };
}

/** True if messages wait at this time. */
export function isQuiet({ from, to, timeZone }: QuietHours, at: Date): boolean {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  const now = format.format(at);
  return from < to ? now >= from && now < to : now >= from || now < to;
}
