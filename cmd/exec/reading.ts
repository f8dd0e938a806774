import { Connection, type Answer } from '../../internal/client/connection.ts';
import { ClientSettings } from '../../internal/config/client-settings.ts';

/** The options that every reading command has. */
export const readingOptions = {
  console: { type: 'string' },
  'token-file': { type: 'string' },
  'ca-file': { type: 'string' },
  json: { type: 'boolean', default: false },
} as const;

interface ReadingValues {
  readonly console?: string | undefined;
  readonly 'token-file'?: string | undefined;
  readonly 'ca-file'?: string | undefined;
}

/** What the reading commands ask, in their messages. */
export const peer = 'RUNLEDGER_CONSOLE_URL';

/** Longest silence of the console, in ms. */
const silenceMs = 60_000;

/**
 * A connection to the console.
 * @throws {SettingError} that names the setting.
 */
export function connectTo(values: ReadingValues): Connection {
  const settings = new ClientSettings({
    RUNLEDGER_CONSOLE_URL: values.console,
    RUNLEDGER_READ_TOKEN_FILE: values['token-file'],
    RUNLEDGER_CA_FILE: values['ca-file'],
  });
  return new Connection({ ...settings.console(), timeoutMs: silenceMs });
}

interface Problem {
  readonly detail?: string;
  readonly errors?: readonly { readonly parameter?: string; readonly detail?: string }[];
}

/** The option of each parameter that the console may refuse. */
const optionOf: Readonly<Record<string, string>> = {
  automation: '--automation',
  execution_id: '--execution',
  error_id: '--error-id',
};

/** The error of an answer that is not 200. It names the option or the setting that leads to it. */
export function refusal({ status, headers, body }: Answer): Error {
  const { detail = '', errors = [] } = problemIn(body);
  if (status === 400 && errors.length > 0) {
    const faults = errors.map(({ parameter = '', detail: said = '' }) => {
      return `${optionOf[parameter] ?? `--${parameter}`} ${said}`;
    });
    return new Error(faults.join('; '));
  }
  if (status === 401) return new Error('RUNLEDGER_READ_TOKEN is not a token of this console');
  if (status === 403) return new Error('RUNLEDGER_READ_TOKEN must be a read token');
  if (status === 301) return new Error(`RUNLEDGER_CONSOLE_URL leads to ${headers.location ?? 'another address'}`);
  if (status === 404 && detail === '') return new Error('RUNLEDGER_CONSOLE_URL is not the address of a console');
  return new Error(`the console answers ${status}: ${detail}`);
}

function problemIn(body: string): Problem {
  try {
    return (JSON.parse(body) ?? {}) as Problem;
  } catch {
    return {};
  }
}
