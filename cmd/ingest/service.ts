import { defineService } from '../../internal/wiring/service.ts';
import { createTokenSource, tokenSettings } from '../../internal/wiring/tokens.ts';
import { createIngest, ingestSettings } from './ingest.ts';

export const ingest = defineService({
  name: 'ingest',
  settings: [...ingestSettings, ...tokenSettings],
  drains: true,
  wire: (config, telemetry) => [createIngest(config, createTokenSource(config, telemetry), telemetry).component],
});
