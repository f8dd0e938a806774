import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';

const oci = 'application/vnd.oci.image';

/**
 * Writes an archive of an OCI layout: an index of one image whose only layer is empty. Resolves
 * with the digest of the index.
 */
export async function writeEmptyImage(archive: string, name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'runledger-image-'));
  const blobs = join(folder, 'blobs/sha256');
  await mkdir(blobs, { recursive: true });
  const put = async (
    mediaType: string,
    content: Buffer,
  ): Promise<{ mediaType: string; digest: string; size: number }> => {
    const hash = createHash('sha256').update(content).digest('hex');
    await writeFile(join(blobs, hash), content);
    return { mediaType, digest: `sha256:${hash}`, size: content.length };
  };
  const putJson = (mediaType: string, content: object): ReturnType<typeof put> =>
    put(mediaType, Buffer.from(JSON.stringify(content)));
  const tar = Buffer.alloc(1024);
  const layer = await put(`${oci}.layer.v1.tar+gzip`, gzipSync(tar));
  const diffId = `sha256:${createHash('sha256').update(tar).digest('hex')}`;
  const platform = { architecture: 'amd64', os: 'linux' };
  const config = await putJson(`${oci}.config.v1+json`, {
    ...platform,
    config: { Labels: { name } },
    rootfs: { type: 'layers', diff_ids: [diffId] },
  });
  const manifest = await putJson(`${oci}.manifest.v1+json`, {
    schemaVersion: 2,
    mediaType: `${oci}.manifest.v1+json`,
    config,
    layers: [layer],
  });
  const list = (manifests: object[]): object => ({ schemaVersion: 2, mediaType: `${oci}.index.v1+json`, manifests });
  const index = await putJson(`${oci}.index.v1+json`, list([{ ...manifest, platform }]));
  await writeFile(join(folder, 'index.json'), JSON.stringify(list([index])));
  await writeFile(join(folder, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}');
  await promisify(execFile)('tar', ['-cf', archive, '-C', folder, 'index.json', 'oci-layout', 'blobs']);
  await rm(folder, { recursive: true });
  return index.digest;
}
