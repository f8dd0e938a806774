/** One line of a panel: a query and its legend. `$ns` is the namespace that the reader chooses. */
export interface Query {
  expr: string;
  legend: string;
}

export interface Panel {
  title: string;
  /** The unit, by Grafana's name. */
  unit: string;
  queries: Query[];
  description?: string;
}

/** A row of panels. */
export interface Row {
  title: string;
  panels: Panel[];
}

const window = '[$__rate_interval]';

/** A panel of queries by their legends. */
export function panel(title: string, unit: string, queries: [legend: string, expr: string][], description?: string): Panel {
  const described = description === undefined ? {} : { description };
  return { title, unit, queries: queries.map(([legend, expr]) => ({ legend, expr })), ...described };
}

/** How fast a counter grows, for these labels. */
export function rate(metric: string, labels = ''): string {
  return `rate(${metric}{${labels}${labels && ','}$ns}${window})`;
}

/** Three quantiles of a histogram, for these labels. */
export function quantiles(metric: string, labels = ''): [string, string][] {
  return ['0.5', '0.95', '0.99'].map((quantile) => [
    `p${Number(quantile) * 100}`,
    `histogram_quantile(${quantile}, sum by (le) (${rate(`${metric}_bucket`, labels)}))`,
  ]);
}
