import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { createSchemaCompiler } from '../../internal/event/validate.ts';
import type { Answer } from './api-client.ts';

export interface OpenApiResponse {
  $ref?: string;
  description: string;
  headers?: Record<string, { required?: boolean }>;
  content?: Record<
    string,
    {
      schema: object;
      example?: unknown;
      examples?: Record<string, { $ref?: string; value?: unknown }>;
    }
  >;
}

export interface OpenApiParameter {
  name: string;
  in: 'path' | 'query' | 'header';
  schema: { type?: string; enum?: string[] };
  example?: unknown;
}

export interface OpenApiOperation {
  operationId?: string;
  tags?: string[];
  parameters?: OpenApiParameter[];
  requestBody?: {
    content: Record<string, { schema: object; examples: Record<string, { value: unknown }> }>;
  };
  responses: Record<string, OpenApiResponse>;
}

export interface OpenApiDocument {
  paths: Record<string, Record<string, OpenApiOperation>>;
  security: unknown;
  tags: { name: string }[];
  components: { schemas: Record<string, object>; securitySchemes: Record<string, object> };
}

/** The answer has the type, the shape and the headers that the document promises. */
export function expectDescribed(answer: Answer, response: OpenApiResponse | undefined): void {
  const [type = ''] = answer.headers['content-type']?.split(';') ?? [];
  expect(Object.keys(response?.content ?? {})).to.include(type);
  const headers = Object.entries(response?.headers ?? {}).filter(([, { required }]) => required !== false);
  const promised = headers.map(([name]) => name.toLowerCase());
  expect(Object.keys(answer.headers)).to.include.members(promised);
  if (/[/+]json$/.test(type)) expectValid(response, answer.json());
}

/**
 * The value, or the example when there is none, is as the response's schema says, and has no other
 * fields: the document leaves room for later ones, which today's clients ignore.
 */
export function expectValid(response: OpenApiResponse | undefined, value?: unknown): void {
  const [content] = Object.values(response?.content ?? {});
  const compiler = createSchemaCompiler();
  compiler.addKeyword('x-enum-varnames');
  compiler.addFormat('uri', (text: string) => URL.canParse(text));
  compiler.addFormat('date-time', (text: string) => !Number.isNaN(Date.parse(text)));
  compiler.addFormat('uuid', /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i);
  const validate = compiler.compile(closed(content?.schema ?? { not: {} }));
  expect(validate(value ?? content?.example), JSON.stringify(validate.errors)).to.equal(true);
}

/** The schema without room for fields that it does not name. */
function closed(schema: object): object {
  const names = 'properties' in schema && !('additionalProperties' in schema);
  const entries = Object.entries(schema).map(([key, value]): [string, unknown] => [key, closedPart(value)]);
  return { ...Object.fromEntries(entries), ...(names ? { additionalProperties: false } : {}) };
}

function closedPart(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(closedPart);
  return typeof part === 'object' && part !== null ? closed(part) : part;
}

const source = 'internal/intake/openapi.yaml';

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
    await promisify(execFile)('node_modules/.bin/redocly', args, {
      env: { ...process.env, ...quiet },
    });
    return JSON.parse(await readFile(output, 'utf8')) as OpenApiDocument;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
