import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { chart, renderWith, template, withValues } from '../support/helm.ts';
import { valuesWithoutComment } from './value-comments.ts';

interface Schema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: unknown;
  readonly definitions?: Readonly<Record<string, Schema>>;
}

describe('chart, values', () => {
  let schema: Schema;
  let values: Record<string, unknown>;
  before(async () => {
    schema = JSON.parse(await readFile(join(chart, 'values.schema.json'), 'utf8')) as Schema;
    values = parse(await readFile(join(chart, 'values.yaml'), 'utf8')) as Record<string, unknown>;
  });

  it('are all in the schema, and the schema has no other', () => {
    const found: string[] = [];
    const compare = (value: object | undefined, rule: Schema | undefined, path: string): void => {
      const resolved = rule?.$ref === undefined ? rule : schema.definitions?.[rule.$ref.replace('#/definitions/', '')];
      if (resolved === undefined) found.push(`${path} is not in the schema`);
      const { properties, additionalProperties } = resolved ?? {};
      if (properties === undefined || additionalProperties !== false) return;
      const inValues = Object.keys(value ?? {});
      const onlyInSchema = Object.keys(properties).filter((key) => !inValues.includes(key));
      // Not in values.yaml: a parent chart's switch, the old name of replicaCount, and fields that
      // Kubernetes defines.
      const fine = /^(\.enabled|.*\.resources\.\w+|.*\.(authenticationRef|parentRef)\.\w+)$/;
      found.push(...onlyInSchema.map((key) => `${path}.${key}`).filter((key) => !fine.test(key)));
      for (const [key, child] of Object.entries(value ?? {})) compare(child, properties[key], `${path}.${key}`);
    };
    compare(values, schema, '');
    expect(found).to.deep.equal([]);
  });

  it('each have a comment that says what they do', async () => {
    expect(valuesWithoutComment(await readFile(join(chart, 'values.yaml'), 'utf8'))).to.deep.equal([]);
    expect(valuesWithoutComment('# @section -- A\n# -- said\na: 1\nb: { c: 2 }\n')).to.deep.equal(['b.c']);
  });

  it('work below a parent chart', async () => {
    const values = ['global.domain=example.com', 'enabled=true', 'global.imageRegistry=mirror.example.com'];
    const rendered = await template(withValues(...values));
    expect(rendered).to.include('image: mirror.example.com/runledger/runledger:');
  });

  it('keep names short enough for Kubernetes', async () => {
    const manifests = await renderWith(`fullnameOverride=${'long-name-'.repeat(8)}`);
    for (const { metadata } of manifests) expect(metadata.name.length, metadata.name).to.be.at.most(63);
  });
});
