import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Server as HttpServer } from 'node:http';
import { Server as HttpsServer } from 'node:https';
import { createSecureContext } from 'node:tls';
import type { Logger } from '../telemetry/logger.ts';

/**
 * How often the files are looked at, in ms. Polling also sees the symbolic links that Kubernetes
 * swaps.
 */
const defaultInterval = 2_000;

/**
 * The certificate of the TLS server, read from files and read again when they change: connections
 * made from then on get the new one, those that stand are left alone. A pair that does not fit
 * together (files are replaced one by one) is not used, and looked at again.
 */
export class Certificate {
  readonly #certFile: string;
  readonly #keyFile: string;
  readonly #logger: Logger;
  readonly #intervalMs: number;
  #current = '';
  #broken = '';
  #timer: NodeJS.Timeout | undefined;
  #reloading: Promise<void> = Promise.resolve();

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
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`TLS_CERT_FILE and TLS_KEY_FILE cannot be used: ${reason}`, { cause: error });
    }
    this.#watch(server);
  }

  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#reloading;
  }

  #watch(server: HttpsServer): void {
    const timer = setTimeout(() => {
      this.#reloading = this.#reload(server).then(() => {
        if (this.#timer === timer) this.#watch(server);
      });
    }, this.#intervalMs);
    this.#timer = timer;
  }

  async #reload(server: HttpsServer): Promise<void> {
    try {
      if (await this.#load(server)) this.#logger.info('certificate reloaded');
      this.#broken = '';
    } catch (error) {
      const message = String(error);
      if (message !== this.#broken)
        this.#logger.error({ error }, 'new certificate cannot be used, keeping the old one');
      this.#broken = message;
    }
  }

  /** True when the files hold another pair than before. */
  async #load(server: HttpsServer): Promise<boolean> {
    const [cert, key] = await Promise.all([readFile(this.#certFile, 'utf8'), readFile(this.#keyFile, 'utf8')]);
    if (cert + key === this.#current) return false;
    check(cert, key);
    server.setSecureContext({ cert, key, minVersion: 'TLSv1.2' });
    this.#current = cert + key;
    return true;
  }
}

/**
 * @throws unless TLS can be served with the pair; OpenSSL alone takes half of one, as a file being
 * written shows it.
 */
function check(cert: string, key: string): void {
  if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key)))
    throw new Error('the key is of another certificate');
  createSecureContext({ cert, key });
}
