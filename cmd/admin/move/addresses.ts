import { wholeAddress } from '../../../internal/config/credentials.ts';
import { namedUrls } from '../../../internal/config/named-urls.ts';
import { firstDatabase } from '../../../internal/store/organizations/organization-map.ts';

/**
 * The addresses of the databases by name, as their servers reach one another. A server lacks
 * the variables of this process, and any of them may be the source of a move.
 */
export function addressesForServers(
  settings: { DATABASE_URL: string; DATABASE_URLS: string | undefined },
  environment: NodeJS.ProcessEnv,
): ReadonlyMap<string, string> {
  const all = [[firstDatabase, settings.DATABASE_URL] as const, ...namedUrls(settings.DATABASE_URLS)];
  return new Map(all.map(([name, url]) => [name, wholeAddress(url, environment)]));
}
