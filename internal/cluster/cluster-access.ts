import type { RequestContext } from './client-node-quirks.ts';

/**
 * The API server and the credentials for it. Each attempt creates a new one, so that it starts
 * without the state of a failed attempt.
 */
export interface ClusterAccess {
  /** `https://host:port` */
  readonly server: string;
  /** The namespace of the account. The token source reads it if no other is configured. */
  readonly namespace: string | undefined;
  /** Adds the account's token and the trusted CA to a request. */
  authenticate(request: RequestContext): Promise<void>;
  /** Ends all its requests and connections at once. */
  close(): Promise<void>;
}

/** Connects to the cluster. @throws when there are no credentials. */
export type ConnectToCluster = () => Promise<ClusterAccess>;
