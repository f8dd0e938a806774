import { createLogger } from '../../../internal/kit/telemetry/logger.ts';
import { cleanOrganization } from '../../../internal/store/organizations/move/clean.ts';
import { cancelMove, moveOrganization } from '../../../internal/store/organizations/move/move.ts';
import type { Run } from '../command.ts';
import { openDatabases } from '../databases.ts';
import { refuseIf } from '../parse.ts';
import { addressesForServers } from './addresses.ts';
import type { move } from './options.ts';

export const run: Run<typeof move> = async ({ organization, to, cancel, clean }, { settings, env }) => {
  const chosen = [to !== undefined, cancel, clean].filter(Boolean).length;
  refuseIf(chosen !== 1, 'one of --to, --cancel and --clean is required, and only one');
  const config = settings();
  const logger = createLogger('move', config.LOG_LEVEL);
  await using databases = openDatabases(config, { command: 'move', most: 6, logger });
  const urls = addressesForServers(config, env);
  const named = Array.from(databases.all, ([name, db]) => [name, { name, db, url: urls.get(name) ?? '' }] as const);
  const options = { databases: new Map(named), organization, logger };
  if (to !== undefined) await moveOrganization(options, to);
  else if (cancel) await cancelMove(options);
  else await cleanOrganization(options);
};
