import { parseOptions, UsageError } from '../../internal/config/arguments.ts';
import type { ErasureRequest } from '../../internal/store/erase.ts';

export const usage = `Erases data of an organization, and keeps the leaves of its log. Without --yes it only counts.

  erase --organization ID --by WHO --reason WHY --all [--yes]
      All events and executions of the organization.
  erase --organization ID --by WHO --reason WHY --automation UUID [--execution ID] [--yes]
      Those of an automation, or of one execution. Erase an execution after its end.
  erase --organization ID --by WHO --reason WHY --text TEXT [--yes]
      Events whose texts contain TEXT, such as the name of a person, in any case, lose their texts. Outcomes stay.

Events that are accepted or stored later stay: stop the automation first.
WHO and WHY are recorded for ever: do not repeat what is erased. Standard output is the record of the erasure, a line
of JSON: keep it for auditors who check exports. DATABASE_URL or DATABASE_URL_FILE has the address of Postgres.
Exit code 0: erased, or counted. 2: wrong arguments or an error; run it again.
`;

/** @throws {UsageError} */
export function readOptions(args: string[]): Omit<ErasureRequest, 'before'> & { yes: boolean } {
  const one = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const options = { organization: one, by: one, reason: one, automation: one, execution: one, text: one };
  const values = parseOptions(args, { ...options, all: flag, yes: flag });
  const { organization, by, reason, all, automation, execution, text, yes } = values;
  if (organization === undefined) throw new UsageError('--organization is required');
  if (by === undefined || reason === undefined) throw new UsageError('--by and --reason are required');
  const ways = [all, automation !== undefined, text !== undefined].filter(Boolean).length;
  if (ways !== 1) throw new UsageError('one of --all, --automation and --text is required');
  if (execution !== undefined && automation === undefined) throw new UsageError('--execution needs --automation');
  if (automation !== undefined && !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(automation)) {
    throw new UsageError('--automation must be a UUID');
  }
  if (text?.trim() === '') throw new UsageError('--text must not be empty');
  return { organization, by, reason, automationId: automation, executionId: execution, text, yes };
}
