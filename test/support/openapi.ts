import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface OpenApiResponse {
  $ref?: string;
  description: string;
  headers?: Record<string, unknown>;
  content?: Record<
    string,
    { schema: object; example?: unknown; examples?: Record<string, { $ref?: string; value?: unknown }> }
  >;
}

export interface OpenApiOperation {
  requestBody?: { content: Record<string, { schema: object; examples: Record<string, { value: unknown }> }> };
  responses: Record<string, OpenApiResponse>;
}

export interface OpenApiDocument {
  paths: Record<string, Record<string, OpenApiOperation>>;
  security: unknown;
  components: { schemas: Record<string, object>; securitySchemes: Record<string, object> };
}

const source = 'internal/api/openapi.yaml';

/**
 * The API's description in one piece, by the tool that users bundle it with; `dereferenced` has no
 * `$ref` left.
 */
export async function readOpenApi({ dereferenced = false } = {}): Promise<OpenApiDocument> {
  const folder = await mkdtemp(join(tmpdir(), 'runledger-openapi-'));
  try {
    const output = join(folder, 'openapi.json');
    const args = ['bundle', source, '--output', output, ...(dereferenced ? ['--dereferenced'] : [])];
    const quiet = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
    await promisify(execFile)('node_modules/.bin/redocly', args, { env: { ...process.env, ...quiet } });
    return JSON.parse(await readFile(output, 'utf8')) as OpenApiDocument;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
