/** The addresses of console pages; only paths if the address of the console is unknown. */
export class ConsoleLinks {
  readonly #base: string;

  constructor(publicUrl: URL | undefined) {
    this.#base = publicUrl === undefined ? '' : `${publicUrl.origin}${publicUrl.pathname.replace(/\/$/, '')}`;
  }

  /** The first page. */
  get start(): string {
    return `${this.#base}/`;
  }

  organization(organization: string): string {
    return `${this.#base}/o/${encodeURIComponent(organization)}/`;
  }

  automation(organization: string, automationId: string): string {
    return `${this.organization(organization)}automations/${automationId}`;
  }

  execution(organization: string, automationId: string, executionId: string): string {
    return `${this.organization(organization)}executions/${automationId}/${encodeURIComponent(executionId)}`;
  }
}
