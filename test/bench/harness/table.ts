import { met, type Figure, type Finding } from './figures.ts';

/** The table of a scenario for the terminal. */
export function printFinding(name: string, { figures }: Finding, seconds: number): void {
  const rows = figures.map(cells);
  const width = (column: number): number => Math.max(...rows.map((row) => row[column]?.length ?? 0));
  console.log(`\n${name} (${seconds} s)`);
  for (const [figure = '', value = '', bar = '', verdict = ''] of rows) {
    const line = `  ${figure.padEnd(width(0))}  ${value.padStart(width(1))}  ${bar.padEnd(width(2))}  ${verdict}`;
    console.log(line.trimEnd());
  }
}

/** Figures with a bar that the table shows of each scenario, beside those that miss it. */
const shownEach = 2;

/** Figures that have a bar, of all scenarios, in Markdown. bench.json has the others. */
export function markdownTable(findings: Record<string, { figures: Figure[] }>): string {
  const rows = Object.entries(findings).flatMap(([name, { figures }]) =>
    figures
      .filter(({ bar }) => bar !== undefined)
      .filter((figure, place) => place < shownEach || met(figure) === false)
      .map((figure) => {
        const [figureName = '', value = '', limit = ''] = cells(figure);
        return [name, figureName, value, met(figure) === false ? `${limit} **missed**` : limit];
      }),
  );
  const lines = [['Scenario', 'Figure', 'Measured', 'Bar'], ['---', '---', '---:', '---'], ...rows];
  // Padding would take more than the text.
  return ['<!-- prettier-ignore -->', ...lines.map((row) => `| ${row.join(' | ')} |`)].join('\n');
}

function cells(figure: Figure): string[] {
  const { name, value, unit, bar } = figure;
  const limit = bar === undefined ? '' : 'atMost' in bar ? `≤ ${number(bar.atMost)}` : `≥ ${number(bar.atLeast)}`;
  const verdict = { true: 'met', false: '**missed**', undefined: '' }[`${met(figure)}`];
  return [name, `${number(value)} ${unit}`, limit, verdict];
}

/** Three digits are enough to compare, and more than a shared machine repeats. */
export function number(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(3)));
}
