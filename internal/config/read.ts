import { cleanEnv, EnvMissingError, type CleanedEnv } from 'envalid';
import { withPostgresCredentials, withRedisCredentials } from './credentials.ts';
import { ConfigError, withAddressFiles, withSecretFiles } from './secret-files.ts';
import { settings, type SettingName } from './settings.ts';
import { parseTuning, tuning, type TuningName } from './tuning.ts';

export { ConfigError } from './secret-files.ts';

const known = { ...settings, ...tuning };

/** A setting, or a constant that `TUNING` can change. */
export type ConfigName = SettingName | TuningName;

/**
 * Settings that hold a password or a long text. With the suffix `_FILE`, the setting names a file
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
  'SMTP_URL',
  'LEDGER_KEY',
  'LEDGER_MAC_KEY',
] as const satisfies SettingName[];

/** Settings with several addresses; each entry may be the address of a file that holds it. */
const lists = ['DATABASE_URLS', 'CONSOLE_DATABASE_URLS'] as const satisfies SettingName[];

/** The typed and checked values of some settings. */
export type Config<Name extends ConfigName> = CleanedEnv<Pick<typeof known, Name>>;

/**
 * Reads and checks settings, once at the start. Empty values count as absent. `defaults` override
 * the settings' own.
 * @throws {ConfigError} that names the first wrong setting, never its value.
 */
export function readConfig<Name extends ConfigName>(
  names: readonly Name[],
  environment: NodeJS.ProcessEnv = process.env,
  defaults: Partial<Record<ConfigName, string>> = {},
): Config<Name> {
  const present = { ...defaults, ...withoutTuning(withoutEmpty(environment)), ...parseTuning(environment['TUNING']) };
  const wanted = Object.fromEntries(names.map((name) => [name, known[name]])) as Pick<typeof known, Name>;
  return cleanEnv(complete(present, names), wanted, {
    reporter: ({ errors }) => {
      const [first] = Object.entries(errors as Record<string, Error>);
      if (first !== undefined) throw new ConfigError(describe(...first));
    },
  });
}

/** Removes variables named like a tuning constant: only `TUNING` sets those. */
function withoutTuning(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !(name in tuning)));
}

/** True if a setting or its `_FILE` form is set. For settings that only some processes require. */
export function isGiven(
  name: (typeof secrets)[number] | 'PUBLIC_URL' | 'CONSOLE_PUBLIC_URL',
  environment: NodeJS.ProcessEnv = process.env,
): boolean {
  const given = withoutEmpty(environment);
  return name in given || `${name}_FILE` in given;
}

/** Adds the contents of files, and credentials from their own variables. */
function complete(environment: NodeJS.ProcessEnv, names: readonly ConfigName[]): NodeJS.ProcessEnv {
  const isRead = (name: ConfigName): boolean => names.includes(name);
  const resolved = withAddressFiles(withSecretFiles(environment, secrets.filter(isRead)), lists.filter(isRead));
  const isPostgres = isRead('DATABASE_URL') || isRead('CONSOLE_DATABASE_URL');
  return withRedisCredentials(isPostgres ? withPostgresCredentials(resolved) : resolved);
}

function withoutEmpty(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
}

function describe(name: string, error: Error): string {
  if (error instanceof EnvMissingError) return `${name} is required: ${known[name as ConfigName].desc ?? ''}`;
  return `${name} ${error.message.replace(/^Value .* not in choices/s, 'must be one of')}`;
}
