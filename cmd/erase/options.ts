import { parseOptions, UsageError } from '../../internal/config/arguments.ts';
import { faultOfText } from '../../internal/event/stored-text.ts';
import type { ErasureRequest } from '../../internal/store/erase/erasure-scope.ts';

export const usage = `Erases data of an organization, and keeps the leaves of its log. Without --yes it only counts.

  erase --organization ID --by WHO --reason WHY --all [--yes]
      All events and executions of the organization.
  erase --organization ID --by WHO --reason WHY --automation UUID [--execution ID] [--yes]
      Those of an automation, or of one execution. Erase an execution after its end.
  erase --organization ID --by WHO --reason WHY --text TEXT [--yes]
      Events whose texts contain TEXT, such as the name of a person, lose their texts. Outcomes stay. Letter case, width
      and compatible characters make no difference, in any locale of Postgres.
  erase --organization ID --list
      Prints the records of all erasures again.

Alerts, deliveries and dead letters about erased events go, too.
Events that are accepted or stored later stay: stop the automation first.
WHO and WHY are recorded for ever: do not repeat what is erased. Standard output has the records of the erasure, each a
line of JSON: keep it for auditors who check exports with verify --erasures. DATABASE_URL or DATABASE_URL_FILE has the
address of Postgres. An organization with a log needs LEDGER_MAC_KEY or LEDGER_KEY, or the log would not know the erasure.

Runledger reaches its own tables only. The data may also be in Redis' append-only file until its next rewrite, in the
write-ahead log and the backups of Postgres, in its server log for a row that Postgres refused, in objects of the
archive (export --recheck writes days again; objects under lock stay until their date), and where webhooks sent it.
Exit code 0: erased, counted or listed. 1: an error; run it again. 2: wrong arguments.
`;

/** Longest argument, in characters. */
const longest = 1_000;

/** The arguments of the command. */
export interface Options {
  organization: string;
  /** The data to erase; undefined to list the erasures that were made. */
  erasure?: Omit<ErasureRequest, 'before'>;
  /** False only counts. */
  yes: boolean;
}

/** @throws {UsageError} that names a wrong argument. */
export function readOptions(args: string[]): Options {
  const one = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const options = { organization: one, by: one, reason: one, automation: one, execution: one, text: one };
  const given = parseOptions(args, { ...options, all: flag, list: flag, yes: flag });
  for (const [name, value] of Object.entries(given)) {
    const fault = typeof value === 'string' ? faultOfText(value, longest) : undefined;
    if (fault !== undefined) throw new UsageError(`--${name} ${fault}`);
  }
  const { list, yes, organization = '', ...values } = given;
  if (isBlank(organization)) throw new UsageError('--organization is required');
  if (!list) return { organization, erasure: { organization, ...readErasure(values) }, yes };
  const { all, ...others } = values;
  if (yes || all || Object.keys(others).length > 0) throw new UsageError('--list takes --organization only');
  return { organization, yes };
}

type Values = Partial<Record<'by' | 'reason' | 'automation' | 'execution' | 'text', string>> & { all: boolean };

function readErasure({ by, reason, all, automation, execution, text }: Values) {
  if (by === undefined || reason === undefined) throw new UsageError('--by and --reason are required');
  if (isBlank(by) || isBlank(reason)) throw new UsageError('--by and --reason must not be empty');
  const ways = [all, automation !== undefined, text !== undefined].filter(Boolean).length;
  if (execution !== undefined && automation === undefined) throw new UsageError('--execution needs --automation');
  if (ways === 0) throw new UsageError('one of --all, --automation and --text is required');
  if (ways > 1) throw new UsageError('only one of --all, --automation and --text may be given');
  if (automation !== undefined && !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(automation)) {
    throw new UsageError('--automation must be a UUID');
  }
  if (text !== undefined && isBlank(text)) throw new UsageError('--text must not be empty');
  return { by, reason, automationId: automation, executionId: execution, text };
}

function isBlank(text: string): boolean {
  return text.trim() === '';
}
