import { open } from 'node:fs/promises';
import { parquetLines, parquetMagic } from '../../internal/export/parquet-lines.ts';

/** The lines of a file; of Parquet those of NDJSON. Opens it when the first one is asked for. */
export async function* linesOf(path: string): AsyncGenerator<string> {
  if (!(await isParquet(path))) {
    await using file = await open(path);
    yield* file.readLines();
    return;
  }
  try {
    yield* parquetLines(path);
  } catch (error) {
    throw new Error(`${path} cannot be read as Parquet: ${String(error)}`, { cause: error });
  }
}

async function isParquet(path: string): Promise<boolean> {
  await using file = await open(path);
  const { buffer } = await file.read({ buffer: Buffer.alloc(parquetMagic.length), position: 0 });
  return buffer.toString('latin1') === parquetMagic;
}

/** The lines of several files. */
export async function* linesOfAll(paths: readonly string[]): AsyncGenerator<string> {
  for (const path of paths) yield* linesOf(path);
}
