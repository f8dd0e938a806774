import {
  allowInsecureRequests,
  ClientSecretBasic,
  ClientSecretPost,
  clockTolerance,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  None,
  type ClientAuth,
  type Configuration,
  type CustomFetch,
} from 'openid-client';
import { within } from '../kit/async/within.ts';
import { restAfterFailure } from './rest-after-failure.ts';

export interface ProviderOptions {
  /** Its issuer identifier: `https://…`, or `http://…` on this machine. */
  issuer: URL;
  clientId: string;
  /** Absent for a public client. */
  clientSecret?: string | undefined;
}

/** Longest answer of the provider, in ms. */
const answerMs = 5_000;

/** The provider is left alone for so long, in ms, after it did not answer. */
export const restMs = 1_000;

/** Clock difference to the provider that is accepted, in seconds. */
export const clockDifference = 30;

/** The OpenID Connect provider. It is asked on demand: a console starts without it. */
export class Provider {
  readonly #options: ProviderOptions;
  #found: { configuration: Configuration; at: number } | undefined;
  #finding: Promise<Configuration> | undefined;
  readonly #discover = restAfterFailure(restMs, () => this.#discoverNow());

  constructor(options: ProviderOptions) {
    this.#options = options;
  }

  /**
   * The endpoints and rules of the provider, asked again if they are older than `oldestMs`.
   * @throws the error of the request when the provider does not answer.
   */
  async configuration(oldestMs: number): Promise<Configuration> {
    if (this.#found !== undefined && performance.now() - this.#found.at < oldestMs) return this.#found.configuration;
    this.#finding ??= this.#discover().finally(() => {
      this.#finding = undefined;
    });
    return this.#finding;
  }

  async #discoverNow(): Promise<Configuration> {
    const { issuer, clientId, clientSecret } = this.#options;
    const metadata = { [clockTolerance]: clockDifference };
    const configuration = await within(
      answerMs,
      discovery(issuer, clientId, metadata, authentication(clientSecret), {
        timeout: answerMs / 1_000,
        [customFetch]: fetchOnce,
        // Signatures of id tokens are checked, also of those that come directly from the provider.
        execute: [enableNonRepudiationChecks, ...(issuer.protocol === 'http:' ? [allowInsecureRequests] : [])],
      }),
    );
    this.#found = { configuration, at: performance.now() };
    return configuration;
  }
}

/** Requests are rare: none keeps a connection. */
const fetchOnce: CustomFetch = (url, options) =>
  fetch(url, { ...options, headers: { ...options.headers, connection: 'close' } } as RequestInit);

/** The method that the provider supports; the first one unless it says otherwise. */
function authentication(secret: string | undefined): ClientAuth {
  if (secret === undefined) return None();
  const [basic, post] = [ClientSecretBasic(secret), ClientSecretPost(secret)];
  return (server, ...request) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    return (methods.includes('client_secret_basic') ? basic : post)(server, ...request);
  };
}
