import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** An invalid setting. The process ends with this one-line message. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/**
 * Replaces settings with the suffix `_FILE` by the contents of their files.
 * @throws {ConfigError} for an unreadable or empty file, and for a setting in both forms.
 */
export function withSecretFiles(environment: NodeJS.ProcessEnv, names: readonly string[]): NodeJS.ProcessEnv {
  const resolved = { ...environment };
  for (const name of names) {
    const file = environment[`${name}_FILE`];
    if (file === undefined) continue;
    if (resolved[name] !== undefined) throw new ConfigError(`${name} and ${name}_FILE are both set: set one of them`);
    resolved[name] = readSecret(`${name}_FILE`, file);
  }
  return resolved;
}

/**
 * Replaces `file:///…` entries in lists of named addresses by the contents of the files. So each
 * address of a list can come from its own file. `file:///…?sslmode=…` adds the TLS mode to an
 * address that names none.
 */
export function withAddressFiles(environment: NodeJS.ProcessEnv, lists: readonly string[]): NodeJS.ProcessEnv {
  const resolved = { ...environment };
  for (const name of lists) {
    const text = environment[name];
    if (text === undefined) continue;
    resolved[name] = text.replaceAll(
      /(?<==)(file:\/\/\/[^\s?]+)(?:\?(sslmode=\S+))?/g,
      (_, file: string, mode?: string) => withMode(readSecret(name, fileURLToPath(file)), mode),
    );
  }
  return resolved;
}

/** In the URL's own text: parsing it could change how its password is written. */
function withMode(url: string, mode: string | undefined): string {
  if (mode === undefined || /[?&]sslmode=/.test(url)) return url;
  return `${url}${url.includes('?') ? '&' : '?'}${mode}`;
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
