import { readFile, writeFile } from 'node:fs/promises';
import { dashboard } from './dashboard/dashboard.ts';
import { metricsTables } from './metrics-page.ts';
import { settingsTable } from './settings-table.ts';

/** Parts of documents that are made from the code: between two comments that name them. */
export const generatedParts = [
  { file: 'README.md', part: 'settings', make: settingsTable },
  { file: 'deploy/prometheus/metrics.md', part: 'metrics', make: metricsTables },
];

/** Whole files that are made: what Helm needs within the chart, and what is told more briefly than in its own format. */
export const generatedFiles = [
  { file: 'deploy/grafana/runledger.json', make: () => Promise.resolve(dashboard()) },
  { file: 'charts/runledger/files/dashboards/runledger.json', make: () => Promise.resolve(dashboard()) },
  {
    file: 'charts/runledger/files/alerts.yaml',
    make: () => readFile(new URL('../../deploy/prometheus/alerts.rules.yaml', import.meta.url), 'utf8'),
  },
];

/** A document with one part replaced by what it should be. @throws when the document has no such part. */
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
    await writeFile(file, withPart(document, part, make()));
  }
  for (const { file, make } of generatedFiles) await writeFile(file, await make());
}
