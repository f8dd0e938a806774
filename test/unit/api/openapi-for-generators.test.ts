import { expect } from 'chai';
import { readOpenApi, type OpenApiDocument } from '../../support/openapi.ts';

type Schema = Record<string, unknown>;

/** What makes one of the usual generators refuse the document, or make a client that fails. */
describe('openapi.yaml, for generators of clients', () => {
  let document: OpenApiDocument;
  before(async () => {
    document = await readOpenApi();
  });

  it('says one type wherever it lists values, and otherwise one type or null', () => {
    expect(offences(document, isUntyped)).to.deep.equal([]);
    const wrong = { a: { enum: ['x'] }, b: { const: 1 }, c: { type: ['string', 'number'] }, d: { type: ['null'] } };
    expect(offences(wrong, isUntyped)).to.deep.equal(['/a', '/b', '/c', '/d']);
    expect(offences({ type: ['string', 'null'], enum: ['x', null] }, isUntyped)).to.deep.equal([]);
  });

  it('leaves room for later fields, which clients of today must ignore', () => {
    expect(offences(document, ({ additionalProperties }) => additionalProperties === false)).to.deep.equal([]);
  });

  it('has one component of each name, also without regard to case and hyphens', () => {
    const { examples: _examples, ...sections } = document.components as Record<string, object>;
    expect(repeated(Object.values(sections).flatMap(Object.keys).map(bare))).to.deep.equal([]);
    expect(repeated(['Ping-Key', 'pingKey'].map(bare))).to.deep.equal(['pingkey']);
  });

  it('has one constant of each name in all enumerations with a name, as Go needs', () => {
    const constants = Object.values(document.components.schemas).flatMap((schema) => {
      const { 'x-enum-varnames': names, enum: values = [] } = schema as Record<string, string[] | undefined>;
      return names ?? values;
    });
    expect(repeated(constants)).to.deep.equal([]);
  });

  it('has an operationId of its own and one tag for each operation', () => {
    const operations = Object.values(document.paths)
      .flatMap((item) => Object.values(item))
      .filter((part) => !Array.isArray(part));
    const ids = operations.map(({ operationId }) => operationId ?? '');
    expect(ids.filter((id) => !/^[a-z][A-Za-z]+$/.test(id))).to.deep.equal([]);
    expect(repeated(ids.map(bare))).to.deep.equal([]);
    const tags = new Set(document.tags.map(({ name }) => name));
    const untagged = operations.filter(({ tags: [tag = '', ...more] = [] }) => more.length > 0 || !tags.has(tag));
    expect(untagged).to.deep.equal([]);
  });
});

function isUntyped({ type, enum: values, const: constant }: Schema): boolean {
  const types = [type].flat().filter((one) => one !== 'null');
  return (
    types.length > 1 || (types.length === 0 && Array.isArray(type)) || (!type && (!!values || constant !== undefined))
  );
}

/** JSON pointers to the schemas that are as `isWrong` says. */
function offences(part: unknown, isWrong: (schema: Schema) => boolean, at = ''): string[] {
  if (typeof part !== 'object' || part === null) return [];
  const within = Object.entries(part).flatMap(([key, value]) =>
    /^examples?$/.test(key) ? [] : offences(value, isWrong, `${at}/${key}`),
  );
  return isWrong(part as Schema) && !at.endsWith('/properties') ? [at, ...within] : within;
}

const bare = (name: string): string => name.replaceAll(/[-_]/g, '').toLowerCase();

function repeated(names: string[]): string[] {
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
}
