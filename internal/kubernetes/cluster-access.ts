import type { Agent, OutgoingHttpHeaders } from 'node:http';

/**
 * The API server and the credentials for it. Each attempt creates a new one, so that it starts
 * without the state of a failed attempt.
 */
export interface ClusterAccess {
  /** `https://host:port` */
  readonly server: string;
  /** The namespace of the account. The token source reads it if no other is configured. */
  readonly namespace: string | undefined;
  /** Returns the credentials of one request. */
  authenticate(): Promise<Credentials>;
  /** Ends all its requests and connections at once. */
  close(): Promise<void>;
}

/** Options of a request in Node's HTTP client. */
export interface Credentials {
  readonly headers: OutgoingHttpHeaders;
  /** Has the connections, the trusted CA, and a client certificate if there is one. */
  readonly agent: Agent;
  /** `name:password` */
  readonly auth?: string | undefined;
}

/** Connects to the cluster. @throws when there are no credentials. */
export type ConnectToCluster = () => Promise<ClusterAccess>;
