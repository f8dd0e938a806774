import { readOpenApi, type OpenApiDocument, type OpenApiOperation } from './openapi.ts';

/** What a schema of a field says, as far as a table shows it. */
interface Field {
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly maxLength?: number;
}

const roles: Readonly<Record<string, string>> = {
  events: 'With a write token',
  record: 'With a read token, at the address of the console',
  manage: 'With a manage token, at the address of the console',
  connectivity: 'With any token',
};

/** The endpoints by the token that they need, and the fields of an event: from openapi.yaml. */
export async function apiTables(): Promise<string> {
  const document = await readOpenApi();
  const all = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) =>
      method === 'parameters' || method === 'head' ? [] : [{ path, method, operation }],
    ),
  );
  const groups = Map.groupBy(all, ({ path, operation }) => groupOf(path, operation));
  const endpoints = [...groups].map(([title, of]) => {
    const rows = of.map(({ path, method, operation }) => [
      `\`${method.toUpperCase()} ${path}\``,
      (operation as OpenApiOperation & { summary?: string }).summary ?? '',
    ]);
    return `## ${title}\n\n${compactTable(['Endpoint', 'What it does'], rows)}`;
  });
  return [fieldsOf(document), ...endpoints].join('\n\n');
}

function groupOf(path: string, { tags }: OpenApiOperation): string {
  if (path.startsWith('/ping/')) return 'With a ping key in the address';
  return roles[tags?.[0] ?? ''] ?? '';
}

function fieldsOf({ components }: OpenApiDocument): string {
  const { properties, required } = components.schemas['EventRequest'] as {
    properties: Record<string, Field>;
    required: readonly string[];
  };
  const rows = Object.entries(properties).map(([name, { description = '', enum: values, maxLength }]) => [
    `\`${name}\``,
    required.includes(name) ? 'yes' : '',
    maxLength?.toLocaleString('en') ?? '',
    [description.replaceAll(/\s+/g, ' ').trim(), ...(values ?? []).map((value) => `\`${value}\``)].join(' '),
  ]);
  const head = ['Field', 'Required', 'Longest, in characters', 'Meaning'];
  return `## The fields of an event\n\n${compactTable(head, rows)}`;
}

/** A table whose cells Prettier does not pad: padding takes more than the text of a wide one. */
export function compactTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return ['<!-- prettier-ignore -->', line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
