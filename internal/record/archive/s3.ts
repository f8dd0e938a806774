import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  NoSuchKey,
  paginateListObjectsV2,
  PutObjectCommand,
  S3ServiceException,
  UploadPartCommand,
  type CompletedPart,
  type S3ClientConfig,
} from '@aws-sdk/client-s3';
import { buffer } from 'node:stream/consumers';
import { openBucket, type OpenBucket } from './bucket.ts';
import { NoSuchObject, type Objects } from './objects.ts';
import { untilAborted } from './until-aborted.ts';

/** Bytes of a part of an upload. S3 takes 10,000 parts, so an object may have up to 160 GiB. */
const partSize = 16 * 1_024 * 1_024;

/** S3 verifies it when it receives an object or a part. */
const ChecksumAlgorithm = 'CRC32';

/** Objects of a bucket: `s3://bucket/prefix`. */
export function openS3(address: string, config: S3ClientConfig = {}): Objects {
  const place = openBucket(address, config);
  return {
    where: place.where,
    list: (names) => list(place, names),
    read: (name) => read(place, name),
    readRange: (name, from, to) => buffer(read(place, name, `bytes=${from}-${to - 1}`)),
    write: (name, pieces, signal) => write(place, name, untilAborted(pieces, signal), signal),
    close: () => place.client.destroy(),
  };
}

async function list({ client, Bucket, base }: OpenBucket, names: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket, Prefix: `${base}${names}` })) {
    for (const { Key } of Contents) if (Key !== undefined) found.push(Key.slice(base.length));
  }
  return found;
}

async function* read({ client, Bucket, base }: OpenBucket, name: string, Range?: string): AsyncGenerator<Uint8Array> {
  try {
    const { Body } = await client.send(new GetObjectCommand({ Bucket, Key: `${base}${name}`, Range }));
    yield* Body as unknown as AsyncIterable<Uint8Array>;
  } catch (error) {
    // An object that ends before the range is not the one that was written.
    const isShorter = error instanceof S3ServiceException && error.$metadata.httpStatusCode === 416;
    throw error instanceof NoSuchKey || isShorter ? new NoSuchObject(name, { cause: error }) : error;
  }
}

/** Writes a small object in one request. A larger one appears when its last part is confirmed. */
async function write(
  { client, Bucket, base }: OpenBucket,
  name: string,
  pieces: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const target = { Bucket, Key: `${base}${name}`, ChecksumAlgorithm } as const;
  const options = signal === undefined ? {} : { abortSignal: signal };
  const parts = partsOf(pieces);
  const first = await parts.next();
  const second = first.done === true ? first : await parts.next();
  if (second.done === true) {
    const Body = first.done === true ? new Uint8Array() : first.value;
    await client.send(new PutObjectCommand({ ...target, Body }), options);
    return;
  }
  const { UploadId } = await client.send(new CreateMultipartUploadCommand(target), options);
  const upload = { ...target, UploadId };
  try {
    const Parts: CompletedPart[] = [];
    const add = async (Body: Uint8Array): Promise<void> => {
      const PartNumber = Parts.length + 1;
      const command = new UploadPartCommand({ ...upload, PartNumber, Body });
      const { ETag, ChecksumCRC32 } = await client.send(command, options);
      Parts.push({ PartNumber, ETag, ChecksumCRC32 });
    };
    if (first.done !== true) await add(first.value);
    await add(second.value);
    for await (const part of parts) await add(part);
    const command = new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } });
    await client.send(command, options);
  } catch (error) {
    await client.send(new AbortMultipartUploadCommand(upload)).catch(() => undefined);
    throw error;
  }
}

/** Joins pieces into parts of the size that S3 requires; the last one may be smaller. */
async function* partsOf(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, undefined> {
  let waiting: Uint8Array[] = [];
  let size = 0;
  for await (const piece of pieces) {
    waiting.push(piece);
    size += piece.length;
    if (size < partSize) continue;
    yield Buffer.concat(waiting);
    waiting = [];
    size = 0;
  }
  if (size > 0) yield Buffer.concat(waiting);
  return undefined;
}
