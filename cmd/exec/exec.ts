import { basename } from 'node:path';
import { ClientSettings, environmentOfProcess } from '../../internal/config/client-settings.ts';
import { CannotRun, runCommand, type CommandEnd } from '../../internal/job/command.ts';
import { endLike } from '../../internal/job/ended.ts';
import type { Inherited } from '../../internal/job/inherited.ts';
import type { Run } from './report.ts';
import { say } from './say.ts';
import { parseOptions, UsageError, uuidForm } from './usage.ts';

/**
 * `runledger exec`: runs a command, reports it, and ends as the command ended. Nothing but wrong
 * arguments keeps the command from running.
 * @throws {UsageError} that names the argument.
 */
export async function exec(args: readonly string[], inherited: Inherited | undefined): Promise<void> {
  const { command, values } = parseExec(args);
  const startedAt = Date.now();
  // Whatever fails below: the command keeps running, and its end is the end of this process.
  process.on('uncaughtException', () => undefined);
  process.on('unhandledRejection', () => undefined);
  const environment = environmentOfProcess();
  const running = startCommand(command, { environment, inherited, wantsTail: !values['no-tail'] });

  const settings = new ClientSettings({
    RUNLEDGER_URL: values.url,
    RUNLEDGER_TOKEN_FILE: values['token-file'],
    RUNLEDGER_CA_FILE: values['ca-file'],
    RUNLEDGER_SPOOL: values.spool,
    RUNLEDGER_TIMEOUT_MS: values['timeout-ms'],
  });
  const run: Run = {
    automation: values.automation,
    execution: values.execution,
    description: values.description ?? basename(command[0] ?? ''),
    startedAt,
  };
  // The command runs already: the code that reports is loaded beside it.
  const reporting = import('./report.ts').then(({ Report }) => new Report(run, settings)).catch(() => undefined);
  const end = await running;
  const report = await reporting;
  const result = await report?.end(end).catch(() => undefined);
  if (result?.warning !== undefined) say(result.warning);
  if (values.verbose) for (const problem of result?.problems ?? []) say(problem);
  endLike(end.ended, { busy: result?.settled === false });
}

/** Resolves also where the command could not run: then with what a shell says of it. */
async function startCommand(...[command, options]: Parameters<typeof runCommand>): Promise<CommandEnd> {
  try {
    return await runCommand(command, options);
  } catch (error) {
    const code = error instanceof CannotRun ? error.code : 126;
    const message = error instanceof Error ? error.message : String(error);
    say(message);
    return { ended: { code }, tail: message };
  }
}

const options = {
  automation: { type: 'string' },
  execution: { type: 'string' },
  description: { type: 'string' },
  'no-tail': { type: 'boolean', default: false },
  verbose: { type: 'boolean', default: false },
  spool: { type: 'string' },
  'timeout-ms': { type: 'string' },
  url: { type: 'string' },
  'token-file': { type: 'string' },
  'ca-file': { type: 'string' },
} as const;

function parseExec(args: readonly string[]) {
  const end = args.indexOf('--');
  const hint = ': the command follows "--"';
  const values = parseOptions(end === -1 ? args : args.slice(0, end), options, hint);
  const command = end === -1 ? [] : args.slice(end + 1);
  if (command.length === 0) throw new UsageError('no command follows "--"');
  const { automation, execution } = values;
  if (automation === undefined) throw new UsageError('--automation is required: the id of the automation, a UUID');
  if (!uuidForm.test(automation)) throw new UsageError('--automation must be a UUID');
  if (execution !== undefined && (execution.length < 1 || execution.length > 255)) {
    throw new UsageError('--execution must have 1 to 255 characters');
  }
  return { command, values: { ...values, automation } };
}
