import { createReadStream } from 'node:fs';

/**
 * The lines of a UTF-8 text, unchanged. They end only at `\n`: Node's line readers also split at
 * U+2028 and U+2029, which texts of events may have.
 */
export async function* textLines(path: string): AsyncGenerator<string> {
  let rest = '';
  for await (const piece of createReadStream(path, 'utf8') as AsyncIterable<string>) {
    const lines = piece.split('\n');
    lines[0] = rest + (lines[0] ?? '');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}
