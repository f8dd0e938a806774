import { readFile } from 'node:fs/promises';

interface DashboardPanel {
  type: string;
  title: string;
  targets?: { expr: string }[];
}

const file = new URL('../../../deploy/grafana/runledger.json', import.meta.url);

/** The panels of the dashboard that is shipped. */
export const { panels } = JSON.parse(await readFile(file, 'utf8')) as { panels: DashboardPanel[] };

/** A query with what Grafana puts in for its variables. */
export function filledIn(expr: string, rateInterval: string): string {
  return expr.replaceAll('$namespace', '.*').replaceAll('$__rate_interval', rateInterval);
}

/** The queries of the panel of that title, filled in. */
export function queriesOf(title: string, rateInterval: string): string[] {
  const { targets = [] } = panels.find((panel) => panel.title === title) ?? {};
  return targets.map(({ expr }) => filledIn(expr, rateInterval));
}
