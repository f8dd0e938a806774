import type { Answer, ApiClient, Request } from './api-client.ts';
import type { Account, OidcProvider } from './oidc-provider.ts';

/** The cookies that the console gave, and the requests that a browser makes with them. */
export class Browser {
  readonly cookies = new Map<string, string>();
  readonly #client: ApiClient;

  constructor(client: ApiClient) {
    this.#client = client;
  }

  get(path: string, headers: Request['headers'] = {}): Promise<Answer> {
    return this.#send({ path, headers });
  }

  head(path: string): Promise<Answer> {
    return this.#send({ method: 'HEAD', path });
  }

  /** Sends a form of the console's own page; other headers make it one of another site. */
  post(path: string, form: Record<string, string> = {}, headers: Request['headers'] = {}): Promise<Answer> {
    const body = new URLSearchParams(form).toString();
    const own = {
      'sec-fetch-site': 'same-origin',
      'content-type': 'application/x-www-form-urlencoded',
      'content-length': String(body.length),
    };
    return this.#send({ method: 'POST', path, headers: { ...own, ...headers }, body });
  }

  /** Logs in at the provider. Resolves with the console's answer to the provider's. */
  async logIn(provider: OidcProvider, account: Account | 'nobody', to?: string): Promise<Answer> {
    return this.get(await this.authorize(provider, account, to));
  }

  /** As `logIn`, up to the path of the console that the provider leads to. */
  async authorize(provider: OidcProvider, account: Account | 'nobody', to?: string): Promise<string> {
    const begin = await this.get(to === undefined ? '/login/oidc' : `/login/oidc?to=${encodeURIComponent(to)}`);
    if (begin.status !== 303) throw new Error(`${begin.status}: ${begin.body}`);
    const { pathname, search } = new URL(await provider.authorize(String(begin.headers.location), account));
    return `${pathname}${search}`;
  }

  async #send(request: Request): Promise<Answer> {
    const cookie = Array.from(this.cookies, ([name, value]) => `${name}=${value}`).join('; ');
    const own = { token: undefined, ...(cookie !== '' && { cookie }) };
    const answer = await this.#client.send({ ...request, headers: { ...own, ...request.headers } });
    for (const given of answer.headers['set-cookie'] ?? []) {
      const [name = '', value = ''] = given.split(';')[0]?.split('=') ?? [];
      if (value === '') this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return answer;
  }
}
