import { parseArgs } from 'node:util';
import { namedUrls } from '../../internal/config/named-urls.ts';
import { readConfig } from '../../internal/config/read.ts';
import { cleanOrganization } from '../../internal/store/organizations/move/clean.ts';
import { cancelMove, moveOrganization } from '../../internal/store/organizations/move/move.ts';
import type { MoveOptions } from '../../internal/store/organizations/move/options.ts';
import { MoveError } from '../../internal/store/organizations/move/replication.ts';
import { firstDatabase } from '../../internal/store/organizations/organization-map.ts';
import { openPostgres, type Database } from '../../internal/store/database.ts';
import { createLogger, type Logger } from '../../internal/kit/telemetry/logger.ts';

/** The settings of the command. */
export const moveSettings = ['DATABASE_URL', 'DATABASE_URLS', 'LOG_LEVEL'] as const;

const usage = `Moves an organization to another database, while it sends events.

  move --organization ID --to DATABASE   a name of DATABASE_URLS, or first for DATABASE_URL
  move --organization ID --cancel        gives up a move that has not ended
  move --organization ID --clean         deletes what is left in the databases that it has left

A move that was killed is continued by the same command.
`;

/** Resolves with the exit code: 0 success, 1 failure, 2 wrong usage. */
export async function run(args: string[]): Promise<number> {
  const options = read(args);
  if (options === undefined) {
    process.stderr.write(usage);
    return 2;
  }
  const config = readConfig(moveSettings);
  const logger = createLogger('move', config.LOG_LEVEL);
  const urls = [[firstDatabase, config.DATABASE_URL] as const, ...namedUrls(config.DATABASE_URLS)];
  const databases = new Map(
    urls.map(([name, url]) => [name, { name, url, db: open(url, logger.child({ database: name })) }]),
  );
  // PID 1 of a container has no default handler. The next call continues.
  process.once('SIGTERM', () => process.exit(143));
  try {
    await work({ databases, organization: options.organization, logger }, options);
    return 0;
  } catch (error) {
    logger.fatal(
      { error },
      error instanceof MoveError ? 'the command cannot be done' : 'the command failed, repeat it',
    );
    return 1;
  } finally {
    await Promise.all(Array.from(databases.values(), ({ db }) => db.destroy()));
  }
}

interface Options {
  organization: string;
  to?: string | undefined;
  cancel: boolean;
  clean: boolean;
}

function work(move: MoveOptions, { to, cancel }: Options): Promise<void> {
  if (to !== undefined) return moveOrganization(move, to);
  return cancel ? cancelMove(move) : cleanOrganization(move);
}

/** Undefined for wrong arguments. */
function read(args: string[]): Options | undefined {
  try {
    const { organization, to, cancel, clean } = parseArgs({
      args,
      options: {
        organization: { type: 'string' },
        to: { type: 'string' },
        cancel: { type: 'boolean', default: false },
        clean: { type: 'boolean', default: false },
      },
    }).values;
    const chosen = [to !== undefined, cancel, clean].filter(Boolean).length;
    return organization === undefined || chosen !== 1 ? undefined : { organization, to, cancel, clean };
  } catch {
    return undefined;
  }
}

function open(url: string, logger: Logger): Database {
  return openPostgres({
    url,
    maxConnections: 6,
    applicationName: 'runledger-move',
    // A comparison of a large record may take minutes.
    statementTimeout: 0,
    onIdleError: (error) => logger.warn({ error }, 'idle postgres connection lost'),
    onNotDurable: (missing) => logger.error({ missing }, 'postgres may lose moved events'),
  });
}
