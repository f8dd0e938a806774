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

/** Maximum duration of an answer of the provider, in ms. */
const answerMs = 5_000;

/** How long the provider is not asked again after it failed to answer, in ms. */
export const restMs = 1_000;

/** Accepted clock difference to the provider, in seconds. */
export const clockDifference = 30;

/** The OpenID Connect provider. It is asked on demand, so a console starts without it. */
export class Provider {
  readonly #options: ProviderOptions;
  #found: { configuration: Configuration; at: number } | undefined;
  #finding: Promise<Configuration> | undefined;
  readonly #discover = restAfterFailure(restMs, () => this.#discoverNow());

  constructor(options: ProviderOptions) {
    this.#options = options;
  }

  /**
   * The metadata of the provider, fetched again if older than `oldestMs`.
   * @throws the error of the request if the provider does not answer.
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
        // Checks the signatures of id tokens, even of those that come directly from the provider.
        execute: [enableNonRepudiationChecks, ...(issuer.protocol === 'http:' ? [allowInsecureRequests] : [])],
      }),
    );
    this.#found = { configuration, at: performance.now() };
    return configuration;
  }
}

/** Requests are rare, so no connection is kept. */
const fetchOnce: CustomFetch = (url, options) =>
  fetch(url, { ...options, headers: { ...options.headers, connection: 'close' } } as RequestInit);

/** HTTP Basic if the provider supports it or does not say; otherwise the secret in the body. */
function authentication(secret: string | undefined): ClientAuth {
  if (secret === undefined) return None();
  const [basic, post] = [ClientSecretBasic(secret), ClientSecretPost(secret)];
  return (server, ...request) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    return (methods.includes('client_secret_basic') ? basic : post)(server, ...request);
  };
}
