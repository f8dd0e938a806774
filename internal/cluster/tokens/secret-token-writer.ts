import { ApiError } from '../api-error.ts';
import { sendRequest, type ApiRequest } from '../api-request.ts';
import type { ClusterAccess, ConnectToCluster } from '../cluster-access.ts';
import type { SecretManifest } from '../secret.ts';
import { defaultLabelSelector, organizationLabelOf } from './label-selector.ts';
import { checkOrganization, secretName } from './manifest.ts';
import { managedAnnotation } from './token-set.ts';
import { isOwn, liveTokensOf, type LiveToken, type TokenChange, type TokenWriter } from './token-writer.ts';

export interface SecretTokenWriterOptions {
  readonly connect: ConnectToCluster;
  /** Undefined selects the namespace of the account. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string;
}

/** Owns the console's entries, beside those of kubectl or a GitOps tool. */
const fieldManager = 'runledger-console';

/** Longest duration of a request, in ms. */
const requestMs = 5_000;

/**
 * Writes tokens into the Secret of their organization by server-side apply, which leaves the
 * entries of other managers alone, as they leave the console's.
 */
export class SecretTokenWriter implements TokenWriter {
  readonly #options: SecretTokenWriterOptions;
  readonly #selector: string;
  readonly #label: string;

  constructor(options: SecretTokenWriterOptions) {
    this.#options = options;
    this.#selector = options.labelSelector ?? defaultLabelSelector;
    this.#label = organizationLabelOf(this.#selector);
  }

  async problem(): Promise<string | undefined> {
    const refused = await this.#with((ask) => ask({ action: 'list Secrets', query: { limit: 1 } })).catch(
      (error: unknown) => error,
    );
    if (refused instanceof ApiError && refused.status === 403) {
      return 'The controller has no right to the Secrets of the tokens’ namespace.';
    }
    return refused instanceof Error ? 'The API server of Kubernetes does not answer.' : undefined;
  }

  read(organization: string): Promise<LiveToken[]> {
    return this.#with((ask) => this.#read(ask, organization));
  }

  async write(organization: string, { set = {}, remove = [] }: TokenChange): Promise<void> {
    checkOrganization(organization);
    const name = secretName(organization);
    await this.#with(async (ask) => {
      const metadata = { annotations: { [managedAnnotation]: 'console' } };
      if (Object.keys(set).length > 0) {
        // An apply without one of the console's entries would remove it.
        const kept = (await this.#read(ask, organization)).filter((one) => one.secret === name && isOwn(one));
        const entries = { ...Object.fromEntries(kept.map(({ entry, digest }) => [entry, digest])), ...set };
        const data = mapValues(entries, (digest) => Buffer.from(digest).toString('base64'));
        const labels = labelsOf(this.#selector, this.#label, organization);
        const body = { apiVersion: 'v1', kind: 'Secret', metadata: { name, labels, ...metadata }, data };
        await ask({ action: 'apply a Secret', name, query: { fieldManager }, body, patch: 'apply' });
      }
      for (const [secret, some] of Map.groupBy(remove, (one) => one.secret)) {
        const data = Object.fromEntries(some.map(({ entry }) => [entry, null]));
        const body = { metadata, data };
        await ask({ action: 'patch a Secret', name: secret, query: { fieldManager }, body, patch: 'merge' });
      }
    });
  }

  async #read(ask: Ask, organization: string): Promise<LiveToken[]> {
    const labelSelector = `${this.#selector},${this.#label}=${organization}`;
    const { items = [] } = (await ask({ action: 'list Secrets', query: { labelSelector } })) as List;
    return items.flatMap((secret) => liveTokensOf(secret, this.#label, organization));
  }

  async #with<T>(work: (ask: Ask) => Promise<T>): Promise<T> {
    const access = await this.#options.connect();
    try {
      return await work((request) => this.#ask(access, request));
    } finally {
      await access.close();
    }
  }

  #ask(access: ClusterAccess, { name, ...request }: Asked): Promise<unknown> {
    const { namespace = access.namespace } = this.#options;
    if (namespace === undefined) throw new Error('no namespace is configured and the account has none');
    const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets${name === undefined ? '' : `/${name}`}`;
    return sendRequest(access, { ...request, path, signal: AbortSignal.timeout(requestMs) });
  }
}

type Asked = Omit<ApiRequest, 'path' | 'signal'> & { name?: string };
type Ask = (request: Asked) => Promise<unknown>;

interface List {
  readonly items?: readonly SecretManifest[];
}

/** The labels that the selector requires of a Secret: those that it compares to a value. */
function labelsOf(selector: string, label: string, organization: string): Record<string, string> {
  const pairs = selector.matchAll(/(?:^|,)\s*([\w./-]+)\s*==?\s*([\w.-]+)\s*(?=,|$)/g);
  return {
    ...Object.fromEntries(Array.from(pairs, ([, key = '', value = '']) => [key, value])),
    [label]: organization,
  };
}

function mapValues(texts: Readonly<Record<string, string>>, change: (text: string) => string): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, change(text)]));
}
