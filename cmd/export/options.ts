import { parseArguments, UsageError } from '../../internal/config/arguments.ts';
import { timeOf } from '../../internal/event/occurred-at.ts';
import { formatNames, type FormatName } from '../../internal/record/formats/formats.ts';
import type { EventPosition } from '../../internal/record/stored-event.ts';

export const usage = `Exports the events of organizations.

  export [DESTINATION] [--organization ID …] [--from DAY] [--to DAY] [--format FORMAT] [--settle-hours N] [--recheck]
      Writes one object a day and organization into a folder or s3://BUCKET/PREFIX, and a manifest beside it.
      Without a destination it writes to ARCHIVE_URL.
      Skips days that have a manifest: after an error, run it again.
  export - --organization ID [--from TIME] [--to TIME] [--after PLACE] [--format FORMAT]
      Writes the events of one organization to standard output.

  --organization ID  exports this organization; may be repeated; all unless given
  --from, --to       a day in UTC such as 2026-11-21, or for standard output a time in RFC 3339; --to is not included
  --after PLACE      continues after an event: its created_at and id, with a comma between
  --format FORMAT    ${formatNames.join(', ')}; an object is parquet unless given, a stream ndjson
  --settle-hours N   exports a day once it has been over for N hours (24), when its events are stored
  --recheck          compares days that have a manifest with Postgres, and exports those that differ again

DATABASE_URL names the Postgres of the workers. For S3 set AWS_REGION, AWS_ACCESS_KEY_ID and
AWS_SECRET_ACCESS_KEY, or what else the SDKs of AWS take; AWS_ENDPOINT_URL_S3 for another server.
`;

/** Says how to name a destination. */
export const noDestination = 'name one folder or s3:// address, or - for standard output; or set ARCHIVE_URL';

/** Says that a name is probably wrong. */
export function noEvents(organizations: readonly string[]): Error {
  return new Error(`There are no events of ${organizations.join(', ')}.`);
}

export interface Options {
  /** A folder or an `s3://` address; `-` for standard output; absent for ARCHIVE_URL. */
  destination: string | undefined;
  organizations: string[] | undefined;
  from: Date | undefined;
  to: Date | undefined;
  after: EventPosition | undefined;
  format: FormatName | undefined;
  settleHours: number;
  recheck: boolean;
}

/** @throws {UsageError} that names a wrong argument. */
export function readOptions(args: string[]): Options {
  const { positionals, values } = parsed(args);
  const [destination, ...more] = positionals;
  if (more.length > 0) throw new UsageError(noDestination);
  if (destination !== '-' && values.after !== undefined) throw new UsageError('--after is for standard output only');
  const boundOf = destination === '-' ? dayOrTimeOf : dayOf;
  const options = {
    destination,
    organizations: values.organization,
    from: boundOf('--from', values.from),
    to: boundOf('--to', values.to),
    after: placeOf(values.after),
    format: formatOf(values.format),
    settleHours: hoursOf(values['settle-hours'] ?? '24'),
    recheck: values.recheck,
  };
  const { from, to } = options;
  if (from !== undefined && to !== undefined && from >= to) throw new UsageError('--from must be before --to');
  if (destination !== '-') return options;
  if (options.organizations?.length !== 1) {
    throw new UsageError('standard output takes the events of one --organization');
  }
  if (values.recheck) throw new UsageError('--recheck is not for standard output');
  if (values['settle-hours'] !== undefined) throw new UsageError('--settle-hours is not for standard output');
  return options;
}

function parsed(args: string[]) {
  return parseArguments({
    args,
    allowPositionals: true,
    options: {
      organization: { type: 'string', multiple: true },
      from: { type: 'string' },
      to: { type: 'string' },
      after: { type: 'string' },
      format: { type: 'string' },
      'settle-hours': { type: 'string' },
      recheck: { type: 'boolean', default: false },
    },
  });
}

/** Midnight in UTC; undefined for another text than a day of the calendar. */
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

function hoursOf(text: string): number {
  if (/^\d{1,4}$/.test(text)) return Number(text);
  throw new UsageError('--settle-hours must be a whole number');
}
