import { parseOptions, UsageError } from '../../internal/config/arguments.ts';
import { readConfig } from '../../internal/config/read.ts';
import { faultOfText } from '../../internal/event/stored-text.ts';
import { macKeysOf } from '../../internal/ledger/mac.ts';
import { openPostgres } from '../../internal/store/database.ts';
import { countUnsealed, sealOlder, type OlderStep } from '../../internal/store/ledger/seal-older.ts';

const usage = `Gives the events of an organization that have no leaf in its log their leaves. Without --yes it only counts.

  seal --organization ID --by WHO --reason WHY [--yes]

For events from before the log, of a worker that ran without LEDGER_KEY, or that somebody restored from the dead letters.
Look at why an event lacks its leaf first: verify reports one that somebody inserted in the same way. The log records
WHO sealed how many events of which range, and WHY, for ever. DATABASE_URL or DATABASE_URL_FILE has the address of
Postgres, LEDGER_MAC_KEY or LEDGER_KEY the key.
Exit code 0: sealed or counted. 1: an error; run it again. 2: wrong arguments.
`;

/** Events of a step, which takes about a second, and of a page, which blocks for 10 ms. */
const step = { most: 50_000, pageSize: 2_000 };

/** Longest argument, in characters. */
const longest = 1_000;

/** The streams of the command: those of the process, or of a test. */
export interface Surroundings {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
  /** Where the settings are; the environment of the process unless given. */
  readonly env?: NodeJS.ProcessEnv | undefined;
}

/** Resolves with the exit code: 0 success, 1 failure, 2 wrong usage. */
export async function run(args: string[], { stdout, stderr, env }: Surroundings): Promise<number> {
  if (args.includes('--help') || args[0] === 'help') {
    stdout.write(usage);
    return 0;
  }
  try {
    const { yes, ...given } = readOptions(args);
    const { DATABASE_URL: url, ...keys } = readConfig(['DATABASE_URL', 'LEDGER_MAC_KEY', 'LEDGER_KEY'], env);
    const [key] = macKeysOf(keys);
    if (key === undefined) throw new Error('LEDGER_MAC_KEY or LEDGER_KEY is required');
    const ignore = (): void => undefined;
    const db = openPostgres({
      url,
      maxConnections: 1,
      statementTimeout: 0,
      preparesStatements: false,
      applicationName: 'runledger-seal',
      onIdleError: ignore,
      onNotDurable: ignore,
    });
    try {
      const { organization } = given;
      if (!yes) {
        const unsealed = await countUnsealed(db, organization, step.pageSize);
        stdout.write(`${unsealed} events of ${organization} have no leaf. Add --yes to seal them.\n`);
        return 0;
      }
      let [sealed, ends] = [0, false];
      const segments: string[] = [];
      for (let after: OlderStep['after']; !ends;) {
        const report = await sealOlder(db, key, { ...given, ...step, after, segments });
        segments.push(...report.segments);
        sealed += report.added;
        after = report.last;
        ends = report.looked < step.most;
      }
      stdout.write(`${sealed} events of ${organization} got their leaves.\n`);
    } finally {
      await db.destroy();
    }
    return 0;
  } catch (error) {
    const isUsage = error instanceof UsageError;
    stderr.write(`seal: ${error instanceof Error ? error.message : String(error)}\n${isUsage ? `\n${usage}` : ''}`);
    return isUsage ? 2 : 1;
  }
}

/** @throws {UsageError} that names a wrong argument. */
function readOptions(args: string[]): { organization: string; by: string; reason: string; yes: boolean } {
  const one = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const { yes, ...given } = parseOptions(args, { organization: one, by: one, reason: one, yes: flag });
  const required = (name: 'organization' | 'by' | 'reason'): string => {
    const value = given[name] ?? '';
    const fault = value.trim() === '' ? 'is required' : faultOfText(value, longest);
    if (fault !== undefined) throw new UsageError(`--${name} ${fault}`);
    return value;
  };
  return { organization: required('organization'), by: required('by'), reason: required('reason'), yes };
}
