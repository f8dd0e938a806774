import type { Panel, Row } from './panel.ts';
import { rows } from './panels.ts';

/**
 * The namespace that the reader chooses at the top. `.*` matches series without a namespace too.
 */
const namespace = 'namespace=~"$namespace"';
const datasource = { type: 'prometheus', uid: '${datasource}' };

/** Grafana's grid is 24 wide. */
const width = 24;
const height = 7;

/** The dashboard as JSON for Grafana's import, one panel a line. */
export function dashboard(): string {
  const panels = placed().map((panel, index) => JSON.stringify({ id: index + 1, ...panel }));
  const page = JSON.stringify({
    uid: 'runledger',
    title: 'Runledger',
    description: 'The events from the callers through Redis to Postgres, and the state of the processes.',
    tags: ['runledger'],
    schemaVersion: 39,
    version: 1,
    editable: true,
    refresh: '30s',
    time: { from: 'now-3h', to: 'now' },
    templating: { list: [datasourceChoice, namespaceChoice] },
  });
  return `${page.slice(0, -1)},"panels":[\n${panels.join(',\n')}\n]}\n`;
}

/** The query for the chosen namespace. */
export function withNamespace(expr: string): string {
  return expr.replaceAll('$ns', namespace);
}

const datasourceChoice = { name: 'datasource', type: 'datasource', query: 'prometheus', label: 'Prometheus' };

const namespaceChoice = {
  name: 'namespace',
  type: 'query',
  label: 'Namespace',
  datasource,
  query: { query: 'label_values({__name__=~"runledger_.+"}, namespace)', refId: 'namespaces' },
  refresh: 2,
  includeAll: true,
  allValue: '.*',
  current: { text: 'All', value: '$__all' },
};

function placed(): object[] {
  let y = 0;
  return rows.flatMap((row) => {
    const header = {
      type: 'row',
      title: row.title,
      collapsed: false,
      panels: [],
      gridPos: { x: 0, y, w: width, h: 1 },
    };
    const panels = panelsOf(row, y + 1);
    y += 1 + height;
    return [header, ...panels];
  });
}

function panelsOf({ panels }: Row, y: number): object[] {
  const w = Math.floor(width / panels.length);
  return panels.map((panel, index) => ({ ...chart(panel), gridPos: { x: index * w, y, w, h: height } }));
}

function chart({ title, unit, queries, description = '' }: Panel): object {
  return {
    type: 'timeseries',
    title,
    description,
    datasource,
    fieldConfig: { defaults: { unit, min: title === 'Difference' ? null : 0 }, overrides: [] },
    options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi', sort: 'desc' } },
    targets: queries.map(({ expr, legend }, index) => ({
      refId: String.fromCharCode(65 + index),
      datasource,
      expr: withNamespace(expr),
      legendFormat: legend,
    })),
  };
}
