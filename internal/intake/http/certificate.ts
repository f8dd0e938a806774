import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Server as HttpServer } from 'node:http';
import { Server as HttpsServer } from 'node:https';
import { createSecureContext } from 'node:tls';
import { Repeating } from '../../kit/async/repeating.ts';
import type { Logger } from '../../kit/telemetry/logger.ts';
import { messageOf } from '../../kit/errors/message-of.ts';

/**
 * Interval of checks for changed files, in ms. Polling also detects the symbolic links that
 * Kubernetes swaps.
 */
const defaultInterval = 2_000;

/**
 * Loads the TLS server's certificate from files, and reloads it when they change. New connections
 * get the new certificate; open ones keep theirs. Rejects a certificate and key that do not match,
 * since the files change one by one, and checks again later.
 */
export class Certificate {
  readonly #certFile: string;
  readonly #keyFile: string;
  readonly #logger: Logger;
  readonly #intervalMs: number;
  #current = '';
  #broken = '';
  #reloads: Repeating | undefined;

  constructor(certFile: string, keyFile: string, logger: Logger, intervalMs = defaultInterval) {
    this.#certFile = certFile;
    this.#keyFile = keyFile;
    this.#logger = logger;
    this.#intervalMs = intervalMs;
  }

  /** @throws when the first pair cannot be read or used; the message names the settings. */
  async start(server: HttpServer): Promise<void> {
    if (!(server instanceof HttpsServer)) return;
    try {
      await this.#load(server);
    } catch (error) {
      const reason = messageOf(error);
      throw new Error(`TLS_CERT_FILE and TLS_KEY_FILE cannot be used: ${reason}`, { cause: error });
    }
    this.#reloads = new Repeating(async () => {
      await this.#reload(server);
      return this.#intervalMs;
    });
    this.#reloads.start(this.#intervalMs);
  }

  async stop(): Promise<void> {
    await this.#reloads?.stop();
  }

  async #reload(server: HttpsServer): Promise<void> {
    try {
      if (await this.#load(server)) this.#logger.info('certificate reloaded');
      this.#broken = '';
    } catch (error) {
      const message = String(error);
      if (message !== this.#broken) this.#logger.error({ error }, 'new certificate is invalid, keeping the old one');
      this.#broken = message;
    }
  }

  /** Resolves with true if the files changed. */
  async #load(server: HttpsServer): Promise<boolean> {
    const [cert, key] = await Promise.all([readFile(this.#certFile, 'utf8'), readFile(this.#keyFile, 'utf8')]);
    if (cert + key === this.#current) return false;
    check(cert, key);
    server.setSecureContext({ cert, key, minVersion: 'TLSv1.2' });
    this.#current = cert + key;
    return true;
  }
}

/** @throws unless TLS works with the pair. OpenSSL accepts a half-written file. */
function check(cert: string, key: string): void {
  if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key)))
    throw new Error('the key belongs to another certificate');
  createSecureContext({ cert, key });
}
