import { timeOf } from '../../../internal/event/occurred-at.ts';
import { formatNames, type FormatName } from '../../../internal/record/formats/formats.ts';
import type { EventPosition } from '../../../internal/record/stored-event.ts';
import { declare, UsageError, type Arguments } from '../command.ts';
import { databaseSettings } from '../databases-settings.ts';
import { refuseIf, wholeNumberOf } from '../parse.ts';

export const exportOptions = declare({
  summary: 'Exports the events of organizations to an archive, or to standard output.',
  takes: 'DESTINATION',
  options: {
    organization: { type: 'string', value: 'ID', text: 'exports this organization; all unless given', multiple: true },
    from: {
      type: 'string',
      value: 'DAY',
      text: 'a day in UTC such as 2026-11-21, or for standard output a time in RFC 3339',
    },
    to: { type: 'string', value: 'DAY', text: 'the same; it is not included' },
    after: {
      type: 'string',
      value: 'PLACE',
      text: 'continues after an event: its created_at and id, with a comma between',
    },
    format: {
      type: 'string',
      value: 'FORMAT',
      text: `${formatNames.join(', ')}; an object is parquet unless given, a stream ndjson`,
    },
    'settle-hours': {
      type: 'string',
      value: 'N',
      text: 'exports a day once it has been over for N hours (24), when its events are stored',
    },
    recheck: {
      type: 'boolean',
      text: 'compares days that have a manifest with Postgres, and exports those that differ again',
    },
  },
  settings: [...databaseSettings, 'RETENTION_DAYS', 'HOT_DAYS', 'ARCHIVE_URL', 'LEDGER_MAC_KEY', 'LEDGER_KEY'],
  stops: true,
  notes: `Into a folder or s3://BUCKET/PREFIX it writes one object a day and organization, and a manifest beside it. It skips days that have a manifest: after an error, run it again. Without a destination it writes to ARCHIVE_URL. To - it writes the events of one organization on standard output.

For S3 set AWS_REGION, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or what else the SDKs of AWS take; AWS_ENDPOINT_URL_S3 for another server.`,
});

/** Says how to name a destination. */
export const noDestination = 'name one folder or s3:// address, or - for standard output; or set ARCHIVE_URL';

/** Says that a name is probably wrong. */
export function noEvents(organizations: readonly string[]): Error {
  return new Error(`There are no events of ${organizations.join(', ')}.`);
}

export interface Options {
  /** A folder or an `s3://` address; `-` for standard output; absent for ARCHIVE_URL. */
  destination: string | undefined;
  /** Empty for all. */
  organizations: readonly string[];
  from: Date | undefined;
  to: Date | undefined;
  after: EventPosition | undefined;
  format: FormatName | undefined;
  settleHours: number;
  recheck: boolean;
}

/** @throws {UsageError} that names a wrong argument. */
export function readOptions(values: Arguments<typeof exportOptions>, destination: string | undefined): Options {
  const { organization: organizations, recheck, 'settle-hours': hours } = values;
  const isStream = destination === '-';
  refuseIf(!isStream && values.after !== undefined, '--after is for standard output only');
  const boundOf = isStream ? dayOrTimeOf : dayOf;
  const [from, to] = [boundOf('--from', values.from), boundOf('--to', values.to)];
  const after = placeOf(values.after);
  const format = formatOf(values.format);
  const settleHours = hours === undefined ? 24 : wholeNumberOf('settle-hours', hours, 0);
  refuseIf(from !== undefined && to !== undefined && from >= to, '--from must be before --to');
  refuseIf(isStream && organizations.length !== 1, 'standard output takes the events of one --organization');
  refuseIf(isStream && recheck, '--recheck is not for standard output');
  refuseIf(isStream && hours !== undefined, '--settle-hours is not for standard output');
  return { destination, organizations, from, to, after, format, settleHours, recheck };
}

/** Midnight in UTC; undefined unless the text is a day of the calendar. */
function midnightOf(text: string): number | undefined {
  return text.length === '2026-11-21'.length ? timeOf(`${text}T00:00:00Z`) : undefined;
}

function dayOf(option: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const midnight = midnightOf(text);
  if (midnight === undefined) throw new UsageError(`${option} must be a day such as 2026-11-21`);
  return new Date(midnight);
}

function dayOrTimeOf(option: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const time = midnightOf(text) ?? timeOf(text);
  if (time === undefined) throw new UsageError(`${option} must be a day or a time in RFC 3339`);
  return new Date(time);
}

function placeOf(text: string | undefined): EventPosition | undefined {
  if (text === undefined) return undefined;
  const [createdAt, id, ...more] = text.split(',');
  const time = timeOf(createdAt ?? '');
  const isUuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(id ?? '');
  if (time !== undefined && id !== undefined && isUuid && more.length === 0)
    return { createdAt: new Date(time).toISOString(), id };
  throw new UsageError('--after must be created_at and id of an event, with a comma between');
}

function formatOf(text: string | undefined): FormatName | undefined {
  const format = formatNames.find((name) => name === text);
  if (text !== undefined && format === undefined) throw new UsageError(`--format must be ${formatNames.join(', ')}`);
  return format;
}
