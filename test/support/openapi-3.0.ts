import { stringify } from 'yaml';
import { readOpenApi } from './openapi.ts';

const warning = '# Made from openapi.yaml by `make docs`: change that, and not this.\n';

/**
 * The API's description as one file in OpenAPI 3.0, for generators that read no 3.1 or only one
 * file.
 */
export async function openApi30(): Promise<string> {
  const { info, ...document } = { info: {}, ...(await readOpenApi()) };
  const { summary: _summary, license: _license, ...kept } = info as Record<string, unknown>;
  const license = { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' };
  const converted = converter({ ...document, openapi: '3.0.3', info: { ...kept, license } });
  return warning + stringify(converted, { lineWidth: 100, aliasDuplicateObjects: false });
}

type Node = Record<string, unknown>;

/** Their content is data, which is the same in every version. */
const data = new Set(['example', 'examples', 'default', 'enum']);

function converter(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(converter);
  if (typeof part !== 'object' || part === null) return part;
  const node = asIn30(part as Node);
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, data.has(key) ? value : converter(value)]),
  );
}

/**
 * A schema in the words of 3.0: without `const`, lists of types, the type `null`, and text beside a
 * `$ref`. @throws on a list of types that 3.0 cannot say.
 */
function asIn30({ $ref, const: constant, ...node }: Node): Node {
  if ($ref !== undefined) return { $ref };
  if (constant !== undefined && !isNode(constant)) return { ...node, enum: [constant] };
  const { type, oneOf } = node;
  if (Array.isArray(type)) {
    const [only, ...more] = type.filter((one) => one !== 'null');
    if (more.length > 0) throw new Error(`OpenAPI 3.0 has no lists of types: ${type.join(', ')}`);
    return { ...node, type: only, nullable: true };
  }
  const isNull = (one: unknown): boolean => isNode(one) && one['type'] === 'null';
  if (!Array.isArray(oneOf) || !oneOf.some(isNull)) return node;
  return {
    ...omit(node, 'oneOf'),
    type: 'object',
    nullable: true,
    allOf: oneOf.filter((one) => !isNull(one)),
  };
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null;
}

function omit(node: Node, name: string): Node {
  return Object.fromEntries(Object.entries(node).filter(([key]) => key !== name));
}
