import { open } from 'node:fs/promises';
import { parquetLines, parquetMagic } from '../../internal/export/parquet-lines.ts';

/** The lines of a file; of Parquet those of NDJSON. Opens it when the first one is asked for. */
export async function* linesOf(path: string): AsyncGenerator<string> {
  const file = await open(path);
  const { buffer } = await file.read({ buffer: Buffer.alloc(parquetMagic.length), position: 0 });
  if (buffer.toString('latin1') !== parquetMagic) {
    yield* file.readLines();
    return;
  }
  await file.close();
  try {
    yield* parquetLines(path);
  } catch (error) {
    throw new Error(`${path} cannot be read as Parquet: ${String(error)}`, { cause: error });
  }
}

/** The lines of several files. */
export async function* linesOfAll(paths: readonly string[]): AsyncGenerator<string> {
  for (const path of paths) yield* linesOf(path);
}
