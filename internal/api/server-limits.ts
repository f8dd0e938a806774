/**
 * What a client may ask of a connection. Times in ms, sizes in bytes; names are Node's where it has
 * one.
 */
export interface ServerLimits {
  /** From the first byte of a request (or the connection, before any) to the end of its headers. */
  headersTimeout: number;
  /** From the first byte of a request to the end of its body. */
  requestTimeout: number;
  /** How often the two are looked at. */
  connectionsCheckingInterval: number;
  /** Longest that a connection may be idle between two requests. */
  keepAliveTimeout: number;
  /** Longest that a TLS handshake may take. */
  handshakeTimeout: number;
  maxHeaderSize: number;
  /** From the beginning of a stop until connections that are still open are cut. */
  stopTimeout: number;
}

/** Slow clients are cut off; idle connections outlive the idle time of common proxies (60 s). */
export const defaultServerLimits: ServerLimits = {
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  connectionsCheckingInterval: 2_000,
  keepAliveTimeout: 75_000,
  handshakeTimeout: 10_000,
  maxHeaderSize: 16_384,
  stopTimeout: 8_000,
};
