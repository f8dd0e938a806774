/** Limits of a connection. Times in ms, sizes in bytes; with Node's names where it has one. */
export interface ServerLimits {
  /** From the first byte of a request (or the connection, before any) to the end of its headers. */
  headersTimeout: number;
  /** From the first byte of a request to the end of its body. */
  requestTimeout: number;
  /** Interval at which these two are checked. */
  connectionsCheckingInterval: number;
  /** Longest idle time between two requests. */
  keepAliveTimeout: number;
  /** Longest TLS handshake. */
  handshakeTimeout: number;
  maxHeaderSize: number;
  /** From the start of a stop until the server cuts open connections. */
  stopTimeout: number;
}

/** Slow clients are cut off. Idle connections outlive the idle time of common proxies (60 s). */
export const defaultServerLimits: ServerLimits = {
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  connectionsCheckingInterval: 2_000,
  keepAliveTimeout: 75_000,
  handshakeTimeout: 10_000,
  maxHeaderSize: 16_384,
  stopTimeout: 8_000,
};
