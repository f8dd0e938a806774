import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** An invalid setting. The message is one line; the process ends with it. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/**
 * The environment with the texts of files in place of the settings with the suffix `_FILE`.
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
 * The environment with the texts of files in place of addresses `file:///…` in lists of named
 * addresses. So each address of a list may come from a file of its own.
 */
export function withAddressFiles(environment: NodeJS.ProcessEnv, lists: readonly string[]): NodeJS.ProcessEnv {
  const resolved = { ...environment };
  for (const name of lists) {
    const text = environment[name];
    if (text === undefined) continue;
    resolved[name] = text.replaceAll(/(?<==)file:\/\/\/\S+/g, (address) => readSecret(name, fileURLToPath(address)));
  }
  return resolved;
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
