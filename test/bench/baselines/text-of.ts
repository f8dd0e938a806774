import type { IncomingMessage } from 'node:http';

/** The body of a request. */
export function textOf(request: IncomingMessage): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => resolve(Buffer.concat(chunks).toString()));
  request.on('error', reject);
  return promise;
}
