import { readFileSync } from 'node:fs';
import { cleanEnv, EnvMissingError, type CleanedEnv } from 'envalid';
import { settings, type SettingName } from './settings.ts';
import { splitShards } from './validators.ts';

/** An invalid setting. The message is one line; the process ends with it. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/**
 * Settings that hold a password, or a long text. The setting with the suffix `_FILE` names a file
 * to read instead.
 */
const secrets = [
  'REDIS_URL',
  'REDIS_DRAIN_URL',
  'REDIS_PASSWORD',
  'REDIS_SENTINEL_PASSWORD',
  'DATABASE_URL',
  'DATABASE_URLS',
  'CONSOLE_DATABASE_URL',
  'CONSOLE_DATABASE_URLS',
  'OIDC_CLIENT_SECRET',
  'OIDC_ORGANIZATIONS',
  'LOG_KEY',
] as const satisfies SettingName[];

/** The typed and checked values of some settings. */
export type Config<Name extends SettingName> = CleanedEnv<Pick<typeof settings, Name>>;

/**
 * Reads and checks settings once, at the start. Empty values count as absent. `defaults` win over
 * the settings' own defaults.
 * @throws {ConfigError} that names the first wrong setting, never its value.
 */
export function readConfig<Name extends SettingName>(
  names: readonly Name[],
  environment: NodeJS.ProcessEnv = process.env,
  defaults: Partial<Record<SettingName, string>> = {},
): Config<Name> {
  const present = { ...defaults, ...withoutEmpty(environment) };
  const wanted = Object.fromEntries(names.map((name) => [name, settings[name]])) as Pick<typeof settings, Name>;
  return cleanEnv(withRedisCredentials(withSecretFiles(present, names)), wanted, {
    reporter: ({ errors }) => {
      const [first] = Object.entries(errors as Record<string, Error>);
      if (first !== undefined) throw new ConfigError(describe(...first));
    },
  });
}

/** True when a setting or its `_FILE` variant is set: one that only some processes require. */
export function isGiven(
  name: (typeof secrets)[number] | 'PUBLIC_URL' | 'CONSOLE_PUBLIC_URL',
  environment: NodeJS.ProcessEnv = process.env,
): boolean {
  const given = withoutEmpty(environment);
  return name in given || `${name}_FILE` in given;
}

function withoutEmpty(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
}

function withSecretFiles(environment: NodeJS.ProcessEnv, names: readonly SettingName[]): NodeJS.ProcessEnv {
  const resolved = { ...environment };
  for (const name of secrets.filter((secret) => names.includes(secret))) {
    const file = environment[`${name}_FILE`];
    if (file === undefined) continue;
    if (resolved[name] !== undefined) throw new ConfigError(`${name} and ${name}_FILE are both set: set one of them`);
    resolved[name] = readSecret(`${name}_FILE`, file);
  }
  return resolved;
}

/**
 * Adds the user name and password to the addresses of Redis, encoded. Their own settings may hold
 * any character.
 */
function withRedisCredentials(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { REDIS_USERNAME: username = '', REDIS_PASSWORD: password = '' } = environment;
  if (username + password === '') return environment;
  const complete = { ...environment };
  for (const name of ['REDIS_URL', 'REDIS_DRAIN_URL'] as const) {
    const shards = complete[name];
    if (shards === undefined) continue;
    const ofShard = (shard: string): string =>
      shard
        .split(',')
        .map((node) => addCredentials(node.trim(), username, password))
        .join(',');
    complete[name] = splitShards(shards).map(ofShard).join(' ');
  }
  return complete;
}

/**
 * Returns an invalid address unchanged for the check of `REDIS_URL`; keeps credentials in the
 * address.
 */
function addCredentials(node: string, username: string, password: string): string {
  const url = URL.parse(node);
  if (url === null || url.username + url.password !== '') return node;
  url.username = encodeURIComponent(username);
  url.password = encodeURIComponent(password);
  return url.href;
}

function readSecret(setting: string, file: string): string {
  const secret = readText(setting, file).trim();
  if (secret === '') throw new ConfigError(`${setting} names an empty file: ${file}`);
  return secret;
}

function readText(setting: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    throw new ConfigError(`${setting} names an unreadable file: ${file} (${reason})`);
  }
}

function describe(name: string, error: Error): string {
  if (error instanceof EnvMissingError) return `${name} is required: ${settings[name as SettingName].desc ?? ''}`;
  return `${name} ${error.message.replace(/^Value .* not in choices/s, 'must be one of')}`;
}
