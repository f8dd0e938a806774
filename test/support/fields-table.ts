import { compactTable } from './compact-table.ts';
import { readOpenApi } from './openapi.ts';

/** What a schema of a field says, as far as a table shows it. */
interface Field {
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly maxLength?: number;
}

/** The fields of an event, from openapi.yaml. */
export async function fieldsTable(): Promise<string> {
  const { components } = await readOpenApi();
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
  return compactTable(['Field', 'Required', 'Longest, in characters', 'Meaning'], rows);
}
