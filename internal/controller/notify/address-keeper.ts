import type { KeyStore } from '../../cluster/key-store.ts';
import { Repeating } from '../../kit/async/repeating.ts';
import type { Logger } from '../../kit/telemetry/logger.ts';
import type { Database } from '../../store/database.ts';
import type { ChannelRef } from './claim.ts';
import { newPrivateKey, openAddress, publicKeyOf } from './sealed-address.ts';

export interface AddressKeeperOptions {
  /** The first database, where consoles find the public key. */
  db: Database;
  store: KeyStore;
  logger: Logger;
}

/** Time between two attempts to read the key, and between two publications, in ms. */
const [retryMs, checkMs] = [1_000, 60_000];

/**
 * Holds the private key for addresses that owners enter in the console, and publishes the public
 * one. Postgres and its backups hold addresses only encrypted.
 */
export class AddressKeeper {
  readonly name = 'address keeper';
  readonly #options: AddressKeeperOptions;
  #key: string | undefined;
  readonly #rounds = new Repeating(async () => {
    try {
      await this.#publish();
      return checkMs;
    } catch (error) {
      this.#options.logger.warn({ error }, 'key of channels cannot be read or published, retrying');
      return retryMs;
    }
  });

  constructor(options: AddressKeeperOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    this.#rounds.start();
  }

  async stop(): Promise<void> {
    await this.#rounds.stop();
  }

  /** The address of a channel made in the console, and its token; empty if it cannot be read. */
  async secretsOf(db: Database, channel: ChannelRef): Promise<readonly string[]> {
    const { organization, name } = channel;
    const row = await db
      .selectFrom('console_channels')
      .select('sealed')
      .where('organization', '=', organization)
      .where('name', '=', name)
      .executeTakeFirst();
    if (this.#key === undefined || !row?.sealed) return [];
    try {
      const { url, token } = await openAddress(row.sealed, this.#key, { organization, name });
      return token === '' ? [url] : [url, token];
    } catch (error) {
      this.#options.logger.warn({ error, organization, channel: name }, 'address of a channel cannot be decrypted');
      return [];
    }
  }

  async #publish(): Promise<void> {
    const { db, store } = this.#options;
    if (this.#key === undefined && (await store.read()) === undefined) await store.create(await newPrivateKey());
    this.#key ??= await store.read();
    if (this.#key === undefined) throw new Error('the key that was created is gone');
    const public_key = JSON.stringify(publicKeyOf(this.#key));
    const insert = db.insertInto('channel_keys').values({ id: true, public_key });
    await insert.onConflict((on) => on.column('id').doUpdateSet({ public_key })).execute();
  }
}
