import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/*
 * Settings of the command `runledger`. They are read without envalid: its load time would delay
 * each job that runs under `runledger exec`.
 */

/** A setting, and the option of the command line that wins over it. */
const options = {
  RUNLEDGER_URL: '--url',
  RUNLEDGER_TOKEN: undefined,
  RUNLEDGER_TOKEN_FILE: '--token-file',
  RUNLEDGER_CONSOLE_URL: '--console',
  RUNLEDGER_READ_TOKEN: undefined,
  RUNLEDGER_READ_TOKEN_FILE: '--token-file',
  RUNLEDGER_CA_FILE: '--ca-file',
  RUNLEDGER_SPOOL: '--spool',
  RUNLEDGER_SPOOL_MAX_BYTES: undefined,
  RUNLEDGER_SPOOL_MAX_EVENTS: undefined,
  RUNLEDGER_TIMEOUT_MS: '--timeout-ms',
} as const;

export type ClientSetting = keyof typeof options;

/** Values of the command line; they win over the environment. */
export type Given = Readonly<Partial<Record<ClientSetting, string | undefined>>>;

/** A setting of the command is missing or wrong. The message names it, never its value. */
export class SettingError extends Error {
  override readonly name = 'SettingError';
}

/** Where a command finds Runledger. */
export interface Target {
  readonly url: URL;
  readonly token: string;
  readonly ca: string | undefined;
}

export interface SpoolSettings {
  readonly folder: string;
  readonly maxBytes: number;
  readonly maxEvents: number;
}

/** Reads the settings of the command, each when it is asked for. */
export class ClientSettings {
  readonly #values: Given;

  constructor(given: Given, environment: NodeJS.ProcessEnv = process.env) {
    const read = (name: ClientSetting): string | undefined => given[name] ?? (environment[name] || undefined);
    const names = Object.keys(options) as ClientSetting[];
    // A file of the command line wins over a token of the environment.
    const covered = given.RUNLEDGER_TOKEN_FILE === undefined ? undefined : 'RUNLEDGER_TOKEN';
    const coveredRead = given.RUNLEDGER_READ_TOKEN_FILE === undefined ? undefined : 'RUNLEDGER_READ_TOKEN';
    const wanted = names.filter((name) => name !== covered && name !== coveredRead);
    this.#values = Object.fromEntries(wanted.map((name) => [name, read(name)]));
  }

  /** @throws {SettingError} that names the setting that keeps events from being sent. */
  ingest(): Target {
    return this.#target('RUNLEDGER_URL', 'RUNLEDGER_TOKEN');
  }

  /** @throws {SettingError} that names the setting that keeps the record from being read. */
  console(): Target {
    return this.#target('RUNLEDGER_CONSOLE_URL', 'RUNLEDGER_READ_TOKEN');
  }

  /**
   * Tells spools of different receivers apart: events of one organization must never reach another.
   * A token in a file may be replaced; then it is the same receiver.
   */
  receiver(): string {
    const { RUNLEDGER_URL: url = '', RUNLEDGER_TOKEN_FILE: file, RUNLEDGER_TOKEN: token = '' } = this.#values;
    return JSON.stringify([url, file === undefined ? 'token' : 'file', file ?? token]);
  }

  /** The folder of the spool, and its bounds. @throws {SettingError} that keeps it from use. */
  spool(): SpoolSettings {
    return {
      folder: this.#values.RUNLEDGER_SPOOL ?? defaultSpool(),
      maxBytes: this.#number('RUNLEDGER_SPOOL_MAX_BYTES', 16 * 1_024 * 1_024),
      maxEvents: this.#number('RUNLEDGER_SPOOL_MAX_EVENTS', 10_000),
    };
  }

  /** Longest wait for Runledger after the end of the command, in ms. */
  timeoutMs(): number {
    return this.#number('RUNLEDGER_TIMEOUT_MS', 2_000);
  }

  #target(url: 'RUNLEDGER_URL' | 'RUNLEDGER_CONSOLE_URL', token: 'RUNLEDGER_TOKEN' | 'RUNLEDGER_READ_TOKEN'): Target {
    const { RUNLEDGER_CA_FILE: caFile } = this.#values;
    return {
      url: httpsAddress(url, this.#values[url]),
      token: this.#token(token),
      ca: caFile === undefined ? undefined : readText('RUNLEDGER_CA_FILE', caFile),
    };
  }

  #token(name: 'RUNLEDGER_TOKEN' | 'RUNLEDGER_READ_TOKEN'): string {
    const { [name]: token, [`${name}_FILE` as const]: file } = this.#values;
    if (token !== undefined && file !== undefined) throw new SettingError(`${name} and ${name}_FILE are both set`);
    const found = token ?? (file === undefined ? '' : readText(`${name}_FILE`, file).trim());
    if (found === '') throw new SettingError(`${name} or ${described(`${name}_FILE`)} is required: it holds the token`);
    if (/^[\u0021-\u007e]+$/.test(found)) return found;
    throw new SettingError(`${name} must be visible ASCII characters, without spaces`);
  }

  #number(name: 'RUNLEDGER_SPOOL_MAX_BYTES' | 'RUNLEDGER_SPOOL_MAX_EVENTS' | 'RUNLEDGER_TIMEOUT_MS', usual: number) {
    const text = this.#values[name];
    if (text === undefined) return usual;
    if (/^\d{1,12}$/.test(text)) return Number(text);
    throw new SettingError(`${described(name)} must be a whole number`);
  }
}

function httpsAddress(name: ClientSetting, text: string | undefined): URL {
  if (text === undefined) throw new SettingError(`${described(name)} is required: the https:// address of Runledger`);
  const url = URL.parse(text);
  const isBare = url !== null && `${url.username}${url.password}${url.search}${url.hash}` === '';
  if (isBare && url.protocol === 'https:') return url;
  throw new SettingError(`${described(name)} must be an https:// address without user, query or fragment`);
}

function readText(name: ClientSetting, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    throw new SettingError(`${described(name)} names an unreadable file: ${file} (${reason})`);
  }
}

function described(name: ClientSetting): string {
  const option = options[name];
  return option === undefined ? name : `${option} (${name})`;
}

function defaultSpool(): string {
  if (process.getuid?.() === 0) return '/var/spool/runledger';
  const state = process.env['XDG_STATE_HOME'] || join(homeFolder(), '.local', 'state');
  return join(state, 'runledger');
}

function homeFolder(): string {
  const home = findHome();
  if (home !== undefined && isAbsolute(home)) return home;
  throw new SettingError(`this user has no home directory; set ${described('RUNLEDGER_SPOOL')}`);
}

/** Undefined where neither the environment nor the list of users knows it. */
function findHome(): string | undefined {
  try {
    return homedir();
  } catch {
    return undefined;
  }
}

/** The environment that a command inherits. */
export function environmentOfProcess(): NodeJS.ProcessEnv {
  return process.env;
}
