import {
  GetObjectCommand,
  GetObjectLockConfigurationCommand,
  ListObjectVersionsCommand,
  PutObjectCommand,
  type ListObjectVersionsCommandInput,
  type ListObjectVersionsCommandOutput,
  type S3ClientConfig,
} from '@aws-sdk/client-s3';
import { openBucket, type OpenBucket } from './bucket.ts';

/** A dead server must not delay its caller for long. */
const impatient = { maxAttempts: 2, requestHandler: { connectionTimeout: 2_000, socketTimeout: 5_000 } };

/** A version of an object. It stays readable after a later version or a deletion has hidden it. */
export interface ObjectVersion {
  readonly name: string;
  readonly version: string | undefined;
}

/**
 * Objects of a bucket with object lock: nobody can change or delete one before its date, not even
 * the owner of the account.
 */
export class LockedS3 {
  readonly where: string;
  readonly #place: OpenBucket;
  #hasLock = false;

  /** @param address `s3://bucket/prefix` */
  constructor(address: string, config: S3ClientConfig = {}) {
    this.#place = openBucket(address, { ...impatient, ...config });
    this.where = this.#place.where;
  }

  /** All versions whose names begin with `prefix`, in the order of their names. */
  async *list(prefix: string, pageSize?: number): AsyncGenerator<ObjectVersion> {
    const { client, Bucket, base } = this.#place;
    let marker: Pick<ListObjectVersionsCommandInput, 'KeyMarker' | 'VersionIdMarker'> | undefined = {};
    while (marker !== undefined) {
      const wanted: ListObjectVersionsCommandInput = {
        Bucket,
        Prefix: `${base}${prefix}`,
        MaxKeys: pageSize,
        ...marker,
      };
      const page: ListObjectVersionsCommandOutput = await client.send(new ListObjectVersionsCommand(wanted));
      for (const { Key, VersionId } of page.Versions ?? []) {
        if (Key !== undefined) yield { name: Key.slice(base.length), version: VersionId };
      }
      const { IsTruncated: isTruncated, NextKeyMarker: KeyMarker, NextVersionIdMarker: VersionIdMarker } = page;
      marker = isTruncated === true ? { KeyMarker, VersionIdMarker } : undefined;
    }
  }

  async read({ name, version }: ObjectVersion): Promise<string> {
    const { client, Bucket, base } = this.#place;
    const get = new GetObjectCommand({ Bucket, Key: `${base}${name}`, VersionId: version });
    return (await (await client.send(get)).Body?.transformToString()) ?? '';
  }

  /** Rejects if the bucket has no object lock. */
  async write(name: string, text: string, until: Date): Promise<void> {
    const { client, Bucket, base } = this.#place;
    if (!this.#hasLock) await this.#requireLock();
    await client.send(
      new PutObjectCommand({
        Bucket,
        Key: `${base}${name}`,
        Body: text,
        ContentType: 'text/plain; charset=utf-8',
        ChecksumAlgorithm: 'CRC32',
        ObjectLockMode: 'COMPLIANCE',
        ObjectLockRetainUntilDate: until,
      }),
    );
  }

  close(): void {
    this.#place.client.destroy();
  }

  /**
   * Rejects without object lock: some servers would then store an object unlocked. Nobody can turn
   * the lock off again.
   */
  async #requireLock(): Promise<void> {
    const { client, Bucket } = this.#place;
    const isOn = await client.send(new GetObjectLockConfigurationCommand({ Bucket })).then(
      ({ ObjectLockConfiguration: lock }) => lock?.ObjectLockEnabled === 'Enabled',
      (error: Error) => {
        if (error.name === 'ObjectLockConfigurationNotFoundError') return false;
        throw error;
      },
    );
    if (!isOn) throw new Error(`the bucket ${Bucket} has no object lock, so checkpoints could be deleted from it`);
    this.#hasLock = true;
  }
}
