import { readFile, writeFile } from 'node:fs/promises';
import { capacityTables } from '../bench/capacity/paper.ts';
import { dashboard } from '../../deploy/grafana/dashboard.ts';
import { cliText } from './cli-text.ts';
import { fieldsTable } from './fields-table.ts';
import { arrowsGraph, projectImports } from './import-arrows.ts';
import { metricsText } from './metrics-text.ts';
import { openApi30 } from './openapi-3.0.ts';
import { restoringStatement } from './restore-letter.ts';
import { settingsTable } from './settings-table.ts';
import { tamperingsText } from './tamperings-text.ts';

/** Parts of documents that are made from the code: between two comments that name them. */
export const generatedParts = [
  {
    file: 'docs/reference/settings.md',
    part: 'settings',
    make: () => Promise.resolve(settingsTable()),
  },
  {
    file: 'docs/operate/runbooks/RunledgerDeadLetters.md',
    part: 'restore',
    make: () => Promise.resolve(restoringStatement()),
  },
  { file: 'docs/report/events.md', part: 'fields', make: fieldsTable },
  {
    file: 'ARCHITECTURE.md',
    part: 'arrows',
    make: async () => arrowsGraph(await projectImports()),
  },
  ...(['costs', 'needs', 'replayed', 'seen'] as const).map((part) => ({
    file: 'docs/operate/capacity.md',
    part,
    make: async () => (await capacityTables())[part],
  })),
];

/**
 * Whole files that are made: the help texts, the metrics, what `verify` finds, copies within the
 * chart, for Helm, the dashboard, from a shorter form, and the API's description in OpenAPI 3.0.
 */
export const generatedFiles = [
  { file: 'docs/reference/cli.txt', make: cliText },
  { file: 'docs/reference/metrics.txt', make: () => Promise.resolve(metricsText()) },
  { file: 'docs/reference/tamperings.txt', make: () => Promise.resolve(tamperingsText()) },
  { file: 'internal/intake/openapi-3.0.yaml', make: openApi30 },
  { file: 'deploy/grafana/runledger.json', make: () => Promise.resolve(dashboard()) },
  {
    file: 'charts/runledger/files/dashboards/runledger.json',
    make: () => Promise.resolve(dashboard()),
  },
  {
    file: 'charts/runledger/files/alerts.yaml',
    make: () => readFile(new URL('../../deploy/prometheus/alerts.rules.yaml', import.meta.url), 'utf8'),
  },
];

/** A document with one part replaced by `content`. @throws when the document has no such part. */
export function withPart(document: string, part: string, content: string): string {
  const [begin, end] = [`<!-- ${part}: made by \`make docs\` -->`, `<!-- end of ${part} -->`];
  const from = document.indexOf(begin);
  const to = document.indexOf(end);
  if (from === -1 || to === -1) throw new Error(`there is no part ${part}`);
  return `${document.slice(0, from + begin.length)}\n\n${content}\n\n${document.slice(to)}`;
}

if (import.meta.main) {
  for (const { file, part, make } of generatedParts) {
    const document = await readFile(file, 'utf8');
    await writeFile(file, withPart(document, part, await make()));
  }
  for (const { file, make } of generatedFiles) await writeFile(file, await make());
}
