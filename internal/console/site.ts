import type { Assets } from './assets.ts';

/** The addresses of the console, as pages link to them. */
export class Site {
  /** The path of CONSOLE_PUBLIC_URL, without a trailing slash. */
  readonly base: string;
  readonly publicUrl: URL;
  readonly #assets: Assets;

  constructor(publicUrl: URL, assets: Assets) {
    this.publicUrl = publicUrl;
    this.base = publicUrl.pathname.replace(/\/$/, '');
    this.#assets = assets;
  }

  /** The address of a static file, with its hash. */
  asset(name: string): string {
    return `${this.base}${this.#assets.path(name)}`;
  }

  /** The address of a page of an organization, such as `executions`; `''` is the overview. */
  of(organization: string, page = '', parameters: Parameters = {}): string {
    return `${this.base}/o/${encodeURIComponent(organization)}/${page}${queryOf(parameters)}`;
  }

  automation(organization: string, automationId: string): string {
    return this.of(organization, `automations/${automationId}`);
  }

  execution(organization: string, automationId: string, executionId: string): string {
    return this.of(organization, `executions/${automationId}/${encodeURIComponent(executionId)}`);
  }

  /** Events as a CSV file, with the filters of the export. */
  download(organization: string, filters: Parameters): string {
    return this.of(organization, 'events.csv', { ...filters, bom: 'true' });
  }

  /** The proof of an event, as a file. */
  proof(organization: string, eventId: string): string {
    return this.of(organization, `proofs/${eventId}`);
  }
}

/** Parameters of an address. Undefined and empty ones are left out, except an empty `error_id`. */
export type Parameters = Readonly<Record<string, string | number | undefined>>;

export function queryOf(parameters: Parameters): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && (value !== '' || name === 'error_id')) query.set(name, String(value));
  }
  return query.size === 0 ? '' : `?${query.toString()}`;
}
