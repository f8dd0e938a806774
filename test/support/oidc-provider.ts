import { hash } from 'node:crypto';
import type { Place } from './certificate.ts';
import { Child } from './child.ts';
import { freePort } from './free-port.ts';

/** JSON that a header can hold. */
const asciiJson = (value: object): string =>
  JSON.stringify(value).replaceAll(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** A person at the provider: the claims. */
export type Account = { sub: string; name?: string; groups?: unknown; atUserinfo?: object } & Record<string, unknown>;

/** A real OpenID Connect provider in a process of its own. It can end and start again. */
export class OidcProvider {
  readonly issuer: string;
  readonly #place: Pick<Place, 'host' | 'port'> & Partial<Place>;
  readonly #redirectUri: string;
  #child: Child | undefined;

  private constructor(place: Pick<Place, 'host' | 'port'> & Partial<Place>, redirectUri: string) {
    this.issuer = `${place.pair === undefined ? 'http' : 'https'}://${place.host}:${place.port}`;
    this.#place = place;
    this.#redirectUri = redirectUri;
  }

  /** A provider that does not run yet. `redirectUri` is where its clients get their answers. */
  static async create(redirectUri = 'https://console.example/login/callback', place?: Place): Promise<OidcProvider> {
    return new OidcProvider(place ?? { host: '127.0.0.1', port: await freePort() }, redirectUri);
  }

  /** A provider that answers. */
  static async start(redirectUri?: string): Promise<OidcProvider> {
    const provider = await OidcProvider.create(redirectUri);
    await provider.startAgain();
    return provider;
  }

  /** The settings of a console with this provider. */
  settings(organizations: object): Record<string, string> {
    return {
      OIDC_ISSUER: this.issuer,
      OIDC_CLIENT_ID: 'runledger',
      OIDC_CLIENT_SECRET: 'a-secret-of-the-console',
      OIDC_SCOPES: 'openid profile groups',
      OIDC_ORGANIZATIONS: JSON.stringify(organizations),
    };
  }

  /** Resolves when it answers. */
  async startAgain(): Promise<void> {
    const { host, port, pair } = this.#place;
    const env = { ...process.env, HOST: host, PORT: String(port), CERT: pair?.cert, KEY: pair?.key };
    this.#child = new Child(process.execPath, ['test/support/oidc-process.ts', this.#redirectUri], { env });
    await this.#child.line(/^https?:/);
  }

  async stop(): Promise<void> {
    await this.#child?.kill();
  }

  /**
   * Goes through the provider's pages as a browser that is logged in as the account. Resolves with
   * the address that the provider leads to in the end, at the client.
   */
  async authorize(address: string, account: Account | 'nobody'): Promise<string> {
    const cookies = new Map<string, string>();
    let next = new URL(address);
    while (next.href.startsWith(this.issuer)) {
      const response = await fetch(next, {
        redirect: 'manual',
        headers: {
          connection: 'close',
          cookie: Array.from(cookies, ([name, value]) => `${name}=${value}`).join('; '),
          'x-account': account === 'nobody' ? account : asciiJson(account),
        },
      });
      const text = await response.text();
      for (const cookie of response.headers.getSetCookie()) {
        const [name = '', value = ''] = cookie.split(';')[0]?.split('=') ?? [];
        cookies.set(name, value);
      }
      const location = response.headers.get('location');
      if (location === null) throw new Error(`${next.href}: ${response.status} ${text.slice(0, 500)}`);
      next = new URL(location, next);
    }
    return next.href;
  }

  /** An id token of a client, as a proxy gets it with the code flow. */
  async idToken(account: Account, client: 'runledger' | 'other'): Promise<string> {
    const secret = { runledger: 'a-secret-of-the-console', other: 'a-secret-of-another' }[client];
    const verifier = 'a-verifier-of-a-test-that-is-long-enough-for-pkce';
    const query = new URLSearchParams({
      client_id: client,
      response_type: 'code',
      redirect_uri: this.#redirectUri,
      scope: 'openid profile groups',
      code_challenge: hash('sha256', verifier, 'base64url'),
      code_challenge_method: 'S256',
    });
    const answer = new URL(await this.authorize(`${this.issuer}/auth?${query.toString()}`, account));
    const response = await fetch(`${this.issuer}/token`, {
      method: 'POST',
      headers: { connection: 'close', authorization: `Basic ${btoa(`${client}:${secret}`)}` },
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        code: answer.searchParams.get('code') ?? '',
        redirect_uri: this.#redirectUri,
        code_verifier: verifier,
      }),
    });
    const tokens = (await response.json()) as { id_token?: string };
    if (tokens.id_token === undefined) throw new Error(`${answer.href}: ${JSON.stringify(tokens)}`);
    return tokens.id_token;
  }
}
