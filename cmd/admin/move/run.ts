import { wholeAddress } from '../../../internal/config/credentials.ts';
import { namedUrls } from '../../../internal/config/named-urls.ts';
import { createLogger } from '../../../internal/kit/telemetry/logger.ts';
import { cleanOrganization } from '../../../internal/store/organizations/move/clean.ts';
import { cancelMove, moveOrganization } from '../../../internal/store/organizations/move/move.ts';
import { firstDatabase } from '../../../internal/store/organizations/organization-map.ts';
import type { Run } from '../command.ts';
import { openDatabases } from '../databases.ts';
import { refuseIf } from '../parse.ts';
import type { move } from './options.ts';

export const run: Run<typeof move> = async ({ organization, to, cancel, clean }, { settings }) => {
  const chosen = [to !== undefined, cancel, clean].filter(Boolean).length;
  refuseIf(chosen !== 1, 'one of --to, --cancel and --clean is required, and only one');
  const config = settings();
  const logger = createLogger('move', config.LOG_LEVEL);
  await using databases = openDatabases(config, { command: 'move', most: 6, logger });
  const urls = new Map([[firstDatabase, wholeAddress(config.DATABASE_URL)], ...namedUrls(config.DATABASE_URLS)]);
  const named = Array.from(databases.all, ([name, db]) => [name, { name, db, url: urls.get(name) ?? '' }] as const);
  const options = { databases: new Map(named), organization, logger };
  if (to !== undefined) await moveOrganization(options, to);
  else if (cancel) await cancelMove(options);
  else await cleanOrganization(options);
};
