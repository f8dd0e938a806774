import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';

/** How long a connection may take, and how long it may be silent, in ms. */
const timeouts = { connectionTimeout: 5_000, socketTimeout: 60_000 };

/** A bucket, and the prefix of its objects' names: empty, or ending with a slash. */
export interface OpenBucket {
  readonly client: S3Client;
  readonly Bucket: string;
  readonly base: string;
  /** Its address, without a query. */
  readonly where: string;
}

/**
 * Opens `s3://bucket/prefix`. Credentials, region and endpoint come from the environment, as in
 * every AWS SDK. Other S3 servers take the bucket in the path.
 */
export function openBucket(address: string, config: S3ClientConfig): OpenBucket {
  const { hostname, pathname } = new URL(address);
  const prefix = pathname.replaceAll(/^\/+|\/+$/g, '');
  return {
    client: new S3Client({ forcePathStyle: true, requestHandler: timeouts, ...config }),
    Bucket: hostname,
    base: prefix === '' ? '' : `${prefix}/`,
    where: `s3://${hostname}/${prefix}`,
  };
}
