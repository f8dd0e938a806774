/**
 * The API server refused a request. The message is safe for a log: it quotes the server's reason
 * and no part of a Secret.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;

  constructor(action: string, status: number, reason: string) {
    super(`${action}: the API server answered ${status}${reason === '' ? '' : ` (${reason.slice(0, 300)})`}`);
    this.status = status;
  }
}
