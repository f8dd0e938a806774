import { createHash } from 'node:crypto';
import { parquetMetadataAsync, type AsyncBuffer, type FileMetaData } from 'hyparquet';
import type { BoundedCache } from '../../kit/async/bounded-cache.ts';
import { parquetReading } from '../formats/parquet-lines.ts';
import type { ColdObject } from '../../store/tables/cold-days-table.ts';
import { ArchiveDamaged } from './archive-errors.ts';
import { folderOfDay, parseManifest, partOf, readManifestText, type Manifest } from './manifest.ts';
import type { Objects } from './objects.ts';

/** A part of an object, which is read and checked as a whole. */
interface Part {
  readonly from: number;
  readonly to: number;
  /** As its manifest names it. */
  readonly name: string;
}

/**
 * An object of the archive in Parquet as hyparquet reads it, in ranges. It gives only bytes with
 * the SHA-256 of the manifest, and the manifest has the SHA-256 that Postgres knows.
 */
export class CheckedObject implements AsyncBuffer {
  readonly name: string;
  readonly byteLength: number;
  readonly #objects: Objects;
  readonly #parts: readonly Part[];
  readonly #cache: BoundedCache<Uint8Array>;

  private constructor(objects: Objects, name: string, { bytes, parts }: Manifest, cache: BoundedCache<Uint8Array>) {
    this.#objects = objects;
    this.#cache = cache;
    this.name = name;
    this.byteLength = bytes;
    let to = 0;
    this.#parts = parts.map((part) => {
      const from = to;
      to += Number.parseInt(part, 10);
      return { from, to, name: part };
    });
  }

  /** Reads the manifest and the footer. @throws {ArchiveDamaged} */
  static async open(
    objects: Objects,
    { manifestSha256, object, ...day }: ColdObject,
    cache: BoundedCache<Uint8Array>,
  ): Promise<{ file: CheckedObject; metadata: FileMetaData }> {
    const folder = folderOfDay(day);
    const content = await readManifestText(objects, folder, object);
    const name = `${folder}${object}`;
    if (createHash('sha256').update(content).digest('hex') !== manifestSha256) {
      throw new ArchiveDamaged(`the manifest of ${name} is not the one that was written`);
    }
    const file = new CheckedObject(objects, name, parseManifest(name, content), cache);
    const initialFetchSize = file.byteLength - (file.#parts.at(-1)?.from ?? 0);
    return { file, metadata: await parquetMetadataAsync(file, { ...parquetReading, initialFetchSize }) };
  }

  async slice(start: number, end = this.byteLength): Promise<ArrayBuffer> {
    const bytes = new Uint8Array(end - start);
    for (const part of this.#parts.filter(({ from, to }) => from < end && to > start)) {
      const read = await this.#cache.get(`${this.name} ${part.from} ${part.name}`, () => this.#read(part));
      const wanted = read.subarray(Math.max(0, start - part.from), end - part.from);
      bytes.set(wanted, Math.max(0, part.from - start));
    }
    return bytes.buffer;
  }

  async #read({ from, to, name }: Part): Promise<Uint8Array> {
    const bytes = await this.#objects.readRange(this.name, from, to);
    if (partOf(bytes) === name) return bytes;
    throw new ArchiveDamaged(`${this.name} is not the object that was written: bytes ${from} to ${to} differ`);
  }
}
