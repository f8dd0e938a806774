import { isIP } from 'node:net';
import { makeExactValidator } from 'envalid';

/** A whole number from `min` to `max`. */
export function wholeNumber({ min, max, ...spec }: { min: number; max: number; default: number; desc: string }) {
  const validator = makeExactValidator<number>((text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    throw new Error(`must be a whole number from ${min} to ${max}`);
  });
  return validator(spec);
}

/** A TCP port; 0 lets the system choose. */
export const portNumber = makeExactValidator<number>((text) => {
  if (/^\d+$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new Error('must be a whole number from 0 to 65535');
});

/** An IPv4 or IPv6 address. */
export const ipAddress = makeExactValidator<string>((text) => {
  if (isIP(text) !== 0) return text;
  throw new Error('must be an IP address, such as 127.0.0.1 or 0.0.0.0');
});

/** A share greater than 0 and up to 1. */
export const ratio = makeExactValidator<number>((text) => {
  const value = Number(text);
  if (text.trim() !== '' && value > 0 && value <= 1) return value;
  throw new Error('must be a number greater than 0 and up to 1');
});

/** `true` or `false`. */
export const flag = makeExactValidator<boolean>((text) => {
  if (text === 'true' || text === 'false') return text === 'true';
  throw new Error('must be true or false');
});

/** The address that callers use: `https://…`, without query or fragment. */
export const httpsUrl = makeExactValidator<URL>((text) => {
  const url = URL.parse(text);
  const bare = url !== null && `${url.username}${url.password}${url.search}${url.hash}` === '';
  if (bare && url.protocol === 'https:') return url;
  throw new Error('must be an https:// address without user, query or fragment');
});

/** Comma-separated http:// or https:// addresses, without query or fragment; may be empty. */
export const urlList = makeExactValidator<readonly URL[]>((text) =>
  text.split(',').flatMap((part) => {
    if (part.trim() === '') return [];
    const url = URL.parse(part.trim());
    const fits = url !== null && /^https?:$/.test(url.protocol) && `${url.search}${url.hash}` === '';
    if (fits) return [url];
    throw new Error('must be comma-separated http:// or https:// addresses without query or fragment');
  }),
);

/**
 * Addresses separated by spaces: `file:///folder`, `s3://bucket/prefix?days=365`, and `https://…`
 * with a public key after `#`; also `http://…` on this machine.
 */
export const witnessUrls = makeExactValidator<readonly URL[]>((text) =>
  text
    .trim()
    .split(/\s+/)
    .map((part) => {
      const url = URL.parse(part);
      const isFolder = url?.protocol === 'file:' && `${url.host}${url.search}${url.hash}` === '';
      const isHere = url?.protocol === 'http:' && isThisMachine(url);
      const isWitness = (url?.protocol === 'https:' || isHere) && url.hash.length > 1 && url.search === '';
      const isQuorum = /^quorum:[1-9]\d?$/.test(part);
      if (url !== null && (isFolder || isWitness || isQuorum || isLockedBucket(url))) return url;
      throw new Error(
        'must be file:///folder, s3://bucket/prefix?days=N, https://witness#public-key or quorum:N, with spaces between',
      );
    }),
);

/** True for a bucket that keeps each checkpoint for 1 to 36,500 days; S3 allows no more. */
function isLockedBucket({ protocol, hostname, username, password, port, search, hash }: URL): boolean {
  const days = Number(/^\?days=(\d{1,5})$/.exec(search)?.[1]);
  const isBare = `${username}${password}${port}${hash}` === '';
  return protocol === 's3:' && hostname !== '' && isBare && days >= 1 && days <= 36_500;
}

/** True if requests to this address do not leave the machine. */
export function isThisMachine({ hostname }: URL): boolean {
  return /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(hostname);
}

/**
 * The issuer of an OpenID Connect provider: `https://…`, or `http://…` on this machine, without
 * query or fragment.
 */
export const issuerUrl = makeExactValidator<URL>((text) => {
  const url = URL.parse(text);
  const bare = url !== null && `${url.username}${url.password}${url.search}${url.hash}` === '';
  const isHere = url?.protocol === 'http:' && isThisMachine(url);
  if (bare && (url.protocol === 'https:' || isHere)) return url;
  throw new Error('must be an https:// address without user, query or fragment');
});

/** OpenID Connect scopes, separated by spaces. */
export const scopes = makeExactValidator<string>((text) => {
  const given = text.trim().split(/\s+/);
  if (given.includes('openid')) return given.join(' ');
  throw new Error('must hold the scope openid');
});

/** Names of Kubernetes namespaces, separated by commas. */
export const namespaces = makeExactValidator<string>((text) => {
  const names = text.split(',').map((name) => name.trim());
  if (names.every((name) => /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name))) return names.join();
  throw new Error('must be names of namespaces, separated by commas');
});

/** Comma-separated `host:port`, or `host` alone; may be empty. */
export const hostList = makeExactValidator<readonly URL[]>((text) =>
  text.split(',').flatMap((part) => {
    if (part.trim() === '') return [];
    const url = URL.parse(`redis://${part.trim()}`);
    const bare = url !== null && `${url.username}${url.password}${url.pathname}${url.search}${url.hash}` === '';
    if (bare && url.hostname !== '') return [url];
    throw new Error('must be host:port of each Sentinel, separated by commas');
  }),
);

/**
 * `redis://` or `rediss://`. Commas separate the nodes of a cluster, spaces the shards of the
 * queue. An absolute path is a Unix socket. Errors never repeat the value, since it holds a
 * password.
 */
export const redisUrls = makeExactValidator<readonly string[]>((text) => {
  const shards = splitShards(text).map(redisUrl);
  if (new Set(shards).size === shards.length) return shards;
  throw new Error('must not name the same Redis twice');
});

/** Splits the addresses of the shards at spaces, except in the path of a Unix socket. */
export function splitShards(text: string): string[] {
  return text.startsWith('/') ? [text] : text.trim().split(/\s+(?!,)(?<!,\s*)/);
}

function redisUrl(text: string): string {
  if (text.startsWith('/')) return text;
  const nodes = text.split(',').map((node) => URL.parse(node.trim()));
  if (nodes.some((node) => node?.protocol.includes('sentinel'))) {
    throw new Error('must not name a Redis Sentinel: name the Sentinels in REDIS_SENTINELS');
  }
  if (!nodes.every((node) => node?.protocol === 'redis:' || node?.protocol === 'rediss:')) {
    throw new Error('must be a redis:// or rediss:// address, or several, separated by commas');
  }
  const paths = nodes.map((node) => node?.pathname.replace(/^\//, '') ?? '');
  if (paths.every((path) => path === '' || path === '0')) return text;
  if (nodes.length > 1) throw new Error('must not name a database other than 0: a Redis Cluster has no other');
  if (/^\d+$/.test(paths.join())) return text;
  throw new Error('must name a database by its number, as in redis://host:6379/1');
}

/** `s3://bucket`, `s3://bucket/prefix` or `file:///folder`. */
export const archiveUrl = makeExactValidator<string>((text) => {
  const url = URL.parse(text);
  const bare = url !== null && `${url.username}${url.password}${url.port}${url.search}${url.hash}` === '';
  if (bare && (url.protocol === 's3:' ? url.hostname !== '' : url.protocol === 'file:' && url.hostname === ''))
    return text;
  throw new Error('must be s3://bucket/prefix or file:///folder');
});

/** `postgres://` or `postgresql://`. Errors never repeat the value, since it holds a password. */
export const postgresUrl = makeExactValidator<string>((text) => {
  const protocol = URL.parse(text)?.protocol;
  if (protocol === 'postgres:' || protocol === 'postgresql:') return text;
  throw new Error('must be a postgres:// or postgresql:// address');
});

/** `name=postgres://…`, separated by spaces. Errors never repeat the value: it holds passwords. */
export const databaseUrls = makeExactValidator<string>((text) => {
  const names = text
    .trim()
    .split(/\s+/)
    .map((part) => {
      const [, name = '', url = ''] = /^([a-z][a-z0-9-]{0,30})=(.+)$/.exec(part) ?? [];
      const protocol = URL.parse(url)?.protocol;
      if (protocol === 'postgres:' || protocol === 'postgresql:') return name;
      throw new Error('must be name=postgres://… entries, separated by spaces; a name has small letters, digits and -');
    });
  if (names.includes('first')) throw new Error('must not use the name first, which is DATABASE_URL');
  if (new Set(names).size < names.length) throw new Error('must not use a name twice');
  return text.trim();
});

/** The queue's name, from which BullMQ builds Redis keys. */
export const queueName = makeExactValidator<string>((text) => {
  if (/^[A-Za-z0-9._-]{1,64}$/.test(text)) return text;
  throw new Error('must be 1 to 64 letters, digits, dots, dashes or underscores');
});

/** The address of a mail server: `smtp://` or `smtps://`, with a host and without a path. */
export const smtpUrl = makeExactValidator<URL>((text) => {
  const url = URL.parse(text);
  const isServer = url !== null && /^smtps?:$/.test(url.protocol) && url.hostname !== '';
  if (isServer && /^\/?$/.test(url.pathname) && `${url.search}${url.hash}` === '') return url;
  throw new Error('must be smtp://user:password@host:587 or smtps://user:password@host:465');
});

/** A mail address, alone or as `Name <address>`. */
export const mailSender = makeExactValidator<string>((text) => {
  if (/^(?:[^<>\r\n]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/.test(text)) return text;
  throw new Error('must be a mail address, such as Runledger <runledger@example.com>');
});
