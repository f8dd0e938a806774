import { expect } from 'chai';
import { eventRequestSchema } from '../../../internal/event/schema.ts';
import { optionalFields } from '../../../internal/event/fields.ts';
import { readOpenApi } from '../../support/openapi.ts';

const readPaths = [
  '/v1/automations/',
  '/v1/automations/{automation_id}/',
  '/v1/executions/',
  '/v1/executions/{automation_id}/{execution_id}/',
  '/v1/executions/{automation_id}/{execution_id}/events/',
  '/v1/events/',
  '/v1/errors/',
  '/v1/alerts/',
  '/v1/export/events/',
  '/v1/stream/',
  '/v1/log/checkpoint',
  '/v1/log/signed-checkpoint',
  '/v1/log/acts',
  '/v1/log/tile/{tile}',
  '/v1/log/proof/{event_id}',
];

describe('openapi.yaml', () => {
  it('has the request schema that is validated with', async () => {
    const { components, paths } = await readOpenApi();
    const documented = components.schemas['EventRequest'];

    expect(withoutTexts(documented)).to.deep.equal(structuredClone(eventRequestSchema()));
    expect(paths['/v1/register/']?.['post']).to.have.nested.property(
      'requestBody.content.application/json.schema.$ref',
      '#/components/schemas/EventRequest',
    );
  });

  it('has each text of an event in every schema of a recorded one', async () => {
    const { components } = await readOpenApi();
    for (const name of ['RecordedEvent', 'StoredEvent']) {
      const texts = optionalFields.map(({ recorded }) => recorded);
      const { required, properties } = components.schemas[name] as { required: string[]; properties: object };
      expect(required, name).to.include.members(texts);
      expect(properties, name).to.include.keys(texts);
    }
  });

  it('has every path with all its methods, and the token on each', async () => {
    const { components, paths, security } = await readOpenApi();
    const methods = Object.entries(paths).map(([path, item]) => [
      path,
      Object.keys(item).filter((name) => name !== 'parameters'),
    ]);
    expect(Object.fromEntries(methods)).to.deep.equal({
      '/v1/register/': ['post'],
      '/v1/register/bulk/': ['post'],
      '/v1/close/': ['post'],
      '/v1/cloudevents/': ['post'],
      '/api/v1/lineage': ['post'],
      '/api/v1/lineage/batch': ['post'],
      '/v1/ping/': ['get', 'head', 'post'],
      '/ping/{ping_key}/{automation_id}': ['get', 'head', 'post'],
      '/ping/{ping_key}/{automation_id}/{signal}': ['get', 'head', 'post'],
      ...Object.fromEntries(readPaths.map((path) => [path, ['get']])),
      '/v1/automations/': ['get', 'put'],
      '/v1/automations/{automation_id}/': ['get', 'put', 'delete'],
      '/v1/tokens/': ['get', 'post'],
      '/v1/tokens/{token_id}/': ['get', 'delete'],
      '/v1/tokens/{token_id}/rotate/': ['post'],
      '/v1/mutes/': ['get'],
      '/v1/acts/': ['post'],
    });
    expect(security).to.deep.equal([{ token: [] }, { bearer: [] }]);
    expect(components.securitySchemes['token']).to.include({ type: 'apiKey', in: 'header', name: 'token' });
    expect(components.securitySchemes['bearer']).to.include({ type: 'http', scheme: 'bearer' });
  });
});

/**
 * Without what OpenAPI adds for people: the descriptions of schemas, but not the property of that
 * name.
 */
function withoutTexts(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return schema;
  const kept = Object.entries(schema).filter(([name, value]) => name !== 'description' || typeof value !== 'string');
  return Object.fromEntries(kept.map(([name, value]) => [name, withoutTexts(value)]));
}
