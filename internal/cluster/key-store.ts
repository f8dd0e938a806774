import { ApiError } from './api-error.ts';
import { sendRequest } from './api-request.ts';
import type { ConnectToCluster } from './cluster-access.ts';
import { entriesOf, type SecretManifest } from './secret.ts';

/** Keeps one private key. */
export interface KeyStore {
  /** Undefined if there is none yet. */
  read(): Promise<string | undefined>;
  /** Does nothing if another process has created one meanwhile. */
  create(key: string): Promise<void>;
}

/** The label of the Secret with the key. */
const label = 'runledger.dev/channel-key';

const name = 'runledger-channel-key';
const requestMs = 5_000;

/** A key in a Secret of a namespace; default: that of the account. */
export function secretKeyStore(connect: ConnectToCluster, given: string | undefined): KeyStore {
  const ask = async (query: Record<string, string> | undefined, body?: object): Promise<unknown> => {
    const access = await connect();
    try {
      const namespace = given ?? access.namespace;
      if (namespace === undefined) throw new Error('no namespace is configured and the account has none');
      const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets`;
      const action = body === undefined ? 'list Secrets' : 'create a Secret';
      const signal = AbortSignal.timeout(requestMs);
      return await sendRequest(access, { action, path, ...(query && { query }), ...(body && { body }), signal });
    } finally {
      await access.close();
    }
  };
  return {
    read: async () => {
      const { items = [] } = (await ask({ labelSelector: label })) as { items?: readonly SecretManifest[] };
      return items.flatMap((secret) => new Map(entriesOf(secret)).get('key') ?? [])[0];
    },
    create: async (key) => {
      const metadata = { name, labels: { [label]: '' } };
      const data = { key: Buffer.from(key).toString('base64') };
      try {
        await ask(undefined, { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', data });
      } catch (error) {
        if (!(error instanceof ApiError) || error.status !== 409) throw error;
      }
    },
  };
}
