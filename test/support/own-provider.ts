import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWTPayload } from 'jose';

/**
 * An OpenID Connect provider that signs whatever claims a test gives it, and counts its requests: a
 * real one makes no id token that is wrong, and does not fail when asked to.
 */
export class OwnProvider implements AsyncDisposable {
  /** Requests by path. */
  readonly requests = new Map<string, number>();
  /** True answers every request with 500. */
  failing = false;
  /** Claims of the next id token, over those of a valid one. */
  claims: JWTPayload = {};
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  readonly #keys: { publicKey: CryptoKey; privateKey: CryptoKey };

  private constructor(keys: { publicKey: CryptoKey; privateKey: CryptoKey }) {
    this.#keys = keys;
  }

  static async start(): Promise<OwnProvider> {
    const provider = new OwnProvider(await generateKeyPair('RS256'));
    provider.#server.listen(0, '127.0.0.1');
    await once(provider.#server, 'listening');
    return provider;
  }

  get issuer(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Requests for the path so far. */
  count(path: string): number {
    return this.requests.get(path) ?? 0;
  }

  idToken(claims: JWTPayload = this.claims): Promise<string> {
    const now = Math.floor(Date.now() / 1_000);
    const valid = {
      iss: this.issuer,
      sub: 'alice',
      aud: 'runledger',
      iat: now,
      exp: now + 600,
      groups: ['staff'],
    };
    return new SignJWT({ ...valid, ...claims }).setProtectedHeader({ alg: 'RS256' }).sign(this.#keys.privateKey);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = String(request.url);
    this.requests.set(path, this.count(path) + 1);
    request.resume();
    const body = this.failing ? undefined : await this.#bodyOf(path);
    response.writeHead(body === undefined ? 500 : 200, {
      'content-type': 'application/json',
      connection: 'close',
    });
    response.end(JSON.stringify(body ?? {}));
  }

  async #bodyOf(path: string): Promise<object | undefined> {
    const { issuer } = this;
    switch (path) {
      case '/.well-known/openid-configuration':
        return {
          issuer,
          authorization_endpoint: `${issuer}/auth`,
          token_endpoint: `${issuer}/token`,
          jwks_uri: `${issuer}/jwks`,
          id_token_signing_alg_values_supported: ['RS256'],
        };
      case '/jwks':
        return { keys: [{ ...(await exportJWK(this.#keys.publicKey)), alg: 'RS256', use: 'sig' }] };
      case '/token':
        return {
          access_token: 'x',
          token_type: 'bearer',
          expires_in: 60,
          id_token: await this.idToken(),
        };
      default:
        return undefined;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }
}
