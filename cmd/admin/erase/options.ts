import type { ErasureRequest } from '../../../internal/store/erase/erasure-scope.ts';
import { declare, UsageError, type Arguments } from '../command.ts';
import { databaseSettings } from '../databases-settings.ts';
import { refuseIf } from '../parse.ts';

export const erase = declare({
  summary: 'Erases data of an organization, and keeps the leaves of its log.',
  options: {
    organization: { type: 'string', value: 'ID', text: 'the organization', required: true },
    by: { type: 'string', value: 'WHO', text: 'who erases: recorded for ever' },
    reason: { type: 'string', value: 'WHY', text: 'and why: recorded for ever, so do not repeat what is erased' },
    all: { type: 'boolean', text: 'all events and executions of the organization' },
    automation: { type: 'string', value: 'UUID', text: 'those of an automation' },
    execution: { type: 'string', value: 'ID', text: 'with --automation: those of one execution, after its end' },
    text: {
      type: 'string',
      value: 'TEXT',
      text:
        'events whose texts contain TEXT, such as the name of a person, lose their texts; outcomes stay. Letter case, ' +
        'width and compatible characters make no difference',
    },
    yes: { type: 'boolean', text: 'erases; without it the command only counts' },
    list: { type: 'boolean', text: 'prints the records of all erasures again' },
  },
  settings: [...databaseSettings, 'LEDGER_MAC_KEY', 'LEDGER_KEY', 'ERASE_BATCH_EVENTS', 'ARCHIVE_URL'],
  notes: `Alerts, deliveries and dead letters about erased events go, too. Events that are accepted or stored later stay: stop the automation first.

Standard output has the records of the erasure, each a line of JSON: keep it for auditors who check exports with verify --erasures. An organization with a log needs LEDGER_MAC_KEY or LEDGER_KEY, or the log would not know the erasure. After an error, run it again.

Runledger reaches its own tables only. The data may also be in Redis' append-only file until its next rewrite, in the write-ahead log and the backups of Postgres, in its server log for a row that Postgres refused, in objects of the archive (export --recheck writes days again; objects under lock stay until their date), and where channels sent it.`,
});

/**
 * The data to erase; undefined to list past erasures.
 * @throws {UsageError} for options that do not fit together.
 */
export function readErasure(given: Arguments<typeof erase>): Omit<ErasureRequest, 'before'> | undefined {
  const { organization, by, reason, all, automation, execution, text, yes, list } = given;
  const ways = [all, automation !== undefined, text !== undefined].filter(Boolean).length;
  const isMore = ways > 0 || yes || [by, reason, execution].some((value) => value !== undefined);
  refuseIf(list && isMore, '--list takes --organization only');
  if (list) return undefined;
  if (by === undefined || reason === undefined) throw new UsageError('--by and --reason are required');
  refuseIf(execution !== undefined && automation === undefined, '--execution needs --automation');
  refuseIf(ways === 0, 'one of --all, --automation and --text is required');
  refuseIf(ways > 1, 'only one of --all, --automation and --text may be given');
  const isUuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(automation ?? '');
  refuseIf(automation !== undefined && !isUuid, '--automation must be a UUID');
  return { organization, by, reason, automationId: automation, executionId: execution, text };
}
