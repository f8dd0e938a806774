import type { RequestContext } from '@kubernetes/client-node/dist/gen/http/http.js';

/**
 * The API server, and the right to talk to it. Made anew for every attempt, so that nothing of a
 * failed one lives on.
 */
export interface ClusterAccess {
  /** `https://host:port` */
  readonly server: string;
  /** The namespace of the account: the one to read when none is configured. */
  readonly namespace: string | undefined;
  /** Puts the account's token and the trusted CA on a request. */
  authenticate(request: RequestContext): Promise<void>;
  /** Ends every request and connection that was made with it, at once. */
  close(): Promise<void>;
}

/** Throws an Error when there are no credentials. */
export type ConnectToCluster = () => Promise<ClusterAccess>;
