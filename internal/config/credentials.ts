import { ConfigError, withSecretFiles } from './secret-files.ts';
import { splitShards } from './validators.ts';

/**
 * Adds the encoded user name and password to the Redis addresses. As separate settings they may
 * hold any character.
 */
export function withRedisCredentials(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { REDIS_USERNAME: username = '', REDIS_PASSWORD: password = '' } = environment;
  if (username + password === '') return environment;
  const complete = { ...environment };
  for (const name of ['REDIS_URL', 'REDIS_DRAIN_URL'] as const) {
    const shards = complete[name];
    if (shards === undefined) continue;
    const ofShard = (shard: string): string =>
      shard
        .split(',')
        .map((node) => addToRedis(node.trim(), username, password))
        .join(',');
    complete[name] = splitShards(shards).map(ofShard).join(' ');
  }
  return complete;
}

/**
 * Leaves an invalid address to the check of `REDIS_URL`, and an address's own credentials alone.
 */
function addToRedis(node: string, username: string, password: string): string {
  const url = URL.parse(node);
  if (url === null || url.username + url.password !== '') return node;
  url.username = encodeURIComponent(username);
  url.password = encodeURIComponent(password);
  return url.href;
}

/**
 * Adds the contents of `PGUSER_FILE` and `PGPASSWORD_FILE` to Postgres addresses that lack them.
 * The client itself reads libpq's `PGUSER` and `PGPASSWORD`.
 */
export function withPostgresCredentials(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { PGUSER_FILE: userFile, PGPASSWORD_FILE: passwordFile } = environment;
  if (userFile === undefined && passwordFile === undefined) return environment;
  const { PGUSER: user = '', PGPASSWORD: password = '' } = withSecretFiles(environment, ['PGUSER', 'PGPASSWORD']);
  const complete = { ...environment };
  for (const name of ['DATABASE_URL', 'CONSOLE_DATABASE_URL'] as const) {
    const url = URL.parse(complete[name] ?? '');
    if (url === null) continue;
    // The address of a socket can only hold them in its query.
    const isSocket = url.host === '';
    if (user !== '' && url.username === '') {
      if (isSocket) url.searchParams.set('user', user);
      else url.username = encodeURIComponent(user);
    }
    if (password !== '' && url.password === '') {
      if (isSocket) url.searchParams.set('password', password);
      else url.password = encodeURIComponent(password);
    }
    complete[name] = url.href;
  }
  return complete;
}

/**
 * The address with what libpq's `PGUSER`, `PGPASSWORD` and `PGSSLMODE` say of it here: a server
 * that connects to it has not these variables. Nor has it the authority of this process, so that a
 * mode that verifies becomes `require`.
 */
export function wholeAddress(address: string, environment: NodeJS.ProcessEnv = process.env): string {
  const { username, password, searchParams } = new URL(address);
  const missing = [
    ['user', username === '' ? environment['PGUSER'] : undefined],
    ['password', password === '' ? environment['PGPASSWORD'] : undefined],
    ['sslmode', environment['PGSSLMODE']?.replace(/^verify-.*/, 'require')],
  ] as const;
  // In the URL's own text: libpq would not read it as the class URL writes it.
  return missing.reduce((url, [name, value = '']) => {
    if (value === '' || searchParams.has(name)) return url;
    return `${url}${url.includes('?') ? '&' : '?'}${name}=${encodeURIComponent(value)}`;
  }, address);
}

/** S3 credentials from files; the AWS SDK finds all others itself. */
export interface S3Credentials {
  credentials?: { accessKeyId: string; secretAccessKey: string };
}

/**
 * Reads `AWS_ACCESS_KEY_ID_FILE` and `AWS_SECRET_ACCESS_KEY_FILE`, the file forms of two SDK
 * variables.
 * @throws {ConfigError} for an unreadable file.
 */
export function s3Credentials(environment: NodeJS.ProcessEnv = process.env): S3Credentials {
  const names = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'];
  if (!names.some((name) => environment[`${name}_FILE`] !== undefined)) return {};
  const { AWS_ACCESS_KEY_ID: id = '', AWS_SECRET_ACCESS_KEY: secret = '' } = withSecretFiles(environment, names);
  if (id === '' || secret === '') throw new ConfigError(`${names.join(' and ')} are needed both, or neither`);
  return { credentials: { accessKeyId: id, secretAccessKey: secret } };
}
