import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP, type LookupFunction } from 'node:net';

/** The sources of a lookup. The defaults are those of the system. */
export interface Names {
  hosts: string;
  resolvConf: string;
  /** Addresses of name servers, with a port if it is not 53. Default: those of the system. */
  servers?: readonly string[];
}

const system: Names = { hosts: '/etc/hosts', resolvConf: '/etc/resolv.conf' };

/** Maximum wait for a name server, in ms, and how often it is asked. */
const patience = { timeout: 2_000, tries: 2 };

/**
 * Looks up names without Node's thread pool. `dns.lookup` holds one of its four threads until the
 * name server answers, so a few silent servers would block every lookup and file access of the
 * process. Supports the hosts file and search domains, which Kubernetes uses.
 */
export function lookUp(names: Names = system): LookupFunction {
  const resolver = new Resolver(patience);
  if (names.servers !== undefined) resolver.setServers(names.servers);
  return (hostname, { all, family }, callback) => {
    void settled(addressesOf(resolver, hostname, names)).then(({ error, found = [] }) => {
      const asked = family === 4 || family === 6 ? found.filter((each) => each.family === family) : found;
      const [first] = asked;
      // Outside of the promise: an error of the caller is not an error of the lookup.
      setImmediate(() => {
        if (first === undefined) callback(error ?? notFound(hostname), '');
        else if (all === true) callback(null, asked);
        else callback(null, first.address, first.family);
      });
    });
  };
}

async function settled(looking: Promise<Address[]>): Promise<{ error?: NodeJS.ErrnoException; found?: Address[] }> {
  try {
    return { found: await looking };
  } catch (error) {
    return { error: error as NodeJS.ErrnoException };
  }
}

interface Address {
  address: string;
  family: number;
}

async function addressesOf(resolver: Resolver, hostname: string, { hosts, resolvConf }: Names): Promise<Address[]> {
  const known = linesOf(await textOf(hosts)).filter(([, ...aliases]) => aliases.includes(hostname.toLowerCase()));
  if (known.length > 0) return known.map(([address = '']) => ({ address, family: isIP(address) }));
  const found = await resolve(resolver, hostname);
  if (found.length > 0 || hostname.endsWith('.')) return found;
  const lines = linesOf(await textOf(resolvConf));
  const domains = lines.findLast(([key]) => key === 'search')?.slice(1) ?? [];
  for (const domain of domains) {
    const inDomain = await resolve(resolver, `${hostname}.${domain}`);
    if (inDomain.length > 0) return inDomain;
  }
  return [];
}

/** The addresses of a name, empty if it does not exist. Rejects if no name server answers. */
async function resolve(resolver: Resolver, name: string): Promise<Address[]> {
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  const problem = answers.find((answer) => answer.status === 'rejected' && !isAbsent(answer.reason));
  if (found.length === 0 && problem?.status === 'rejected') throw problem.reason;
  return found.map((address) => ({ address, family: isIP(address) }));
}

function isAbsent(error: unknown): boolean {
  const { code } = Object(error) as { code?: unknown };
  return code === 'ENOTFOUND' || code === 'ENODATA';
}

function notFound(hostname: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${hostname} has no address`), { code: 'ENOTFOUND' });
}

/** The words of each line, without comments. */
function linesOf(text: string): string[][] {
  return text.split('\n').map((line) => line.replace(/#.*/, '').toLowerCase().split(/\s+/).filter(Boolean));
}

async function textOf(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '');
}
