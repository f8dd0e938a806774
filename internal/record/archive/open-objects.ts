import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { S3ClientConfig } from '@aws-sdk/client-s3';
import { openFolder } from './folder.ts';
import type { Objects } from './objects.ts';

/** Opens a bucket by its `s3://` address, or a folder by its path or its `file://` address. */
export async function openObjects(destination: string, config: S3ClientConfig = {}): Promise<Objects> {
  if (destination.startsWith('s3://')) {
    // Loaded only when needed: loading it takes as long as the rest of the command.
    const { openS3 } = await import('./s3.ts');
    return openS3(destination, config);
  }
  return openFolder(destination.startsWith('file://') ? fileURLToPath(destination) : resolve(destination));
}
