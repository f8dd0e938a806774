import type { Results } from './results.ts';
import { titles, type SideName } from './sides.ts';
import { number } from './table.ts';

/** One group of bars. */
interface Panel {
  title: string;
  hint: string;
  bars: { label: string; value: number; ours: boolean }[];
}

const [width, panelWidth, barHeight, gap, margin] = [960, 448, 22, 8, 24];

/**
 * The comparisons as horizontal bars, as SVG with a ground of its own: it reads on light and dark
 * pages.
 */
export function plot(results: Results): string {
  const panels = panelsOf(results).filter(({ bars }) => bars.length > 0);
  const heights = [0, 1].map((row) => Math.max(0, ...panels.slice(row * 2, row * 2 + 2).map(heightOf)));
  const drawn = panels.map((panel, index) => {
    const y = margin + (index < 2 ? 0 : (heights[0] ?? 0));
    return drawPanel(panel, index % 2 === 0 ? margin : width - margin - panelWidth + 12, y);
  });
  const height = margin + heights.reduce((sum, each) => sum + each, 0);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="Runledger against what a user would pick instead">
<style>
  text { font: 13px system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif; fill: #1f2328 }
  .title { font-weight: 600; font-size: 15px } .hint, .other-label { fill: #59636e }
  .ground { fill: #f6f8fa } .ours { fill: #1a7f5a } .other { fill: #afb8c1 } .our-label { font-weight: 600 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .hint, .other-label { fill: #9198a1 } .ground { fill: #151b23 } .ours { fill: #3fb984 } .other { fill: #545d68 }
  }
</style>
<rect class="ground" width="${width}" height="${height}" rx="8"/>
${drawn.join('\n')}
</svg>
`;
}

function heightOf({ bars }: Panel): number {
  return 40 + bars.length * (barHeight + gap) + margin;
}

function drawPanel({ title, hint, bars }: Panel, x: number, y: number): string {
  const longest = Math.max(...bars.map(({ value }) => value));
  const [labels, scale] = [190, (panelWidth - 190 - 70) / longest];
  const drawn = bars.map(({ label, value, ours }, index) => {
    const top = 40 + index * (barHeight + gap);
    const length = Math.max(2, value * scale);
    const [bar, text] = ours ? ['ours', 'our-label'] : ['other', 'other-label'];
    return `  <text class="${text}" x="${labels - 10}" y="${top + 15}" text-anchor="end">${label}</text>
  <rect class="${bar}" x="${labels}" y="${top}" width="${length.toFixed(1)}" height="${barHeight}" rx="3"/>
  <text class="${text}" x="${(labels + length + 8).toFixed(1)}" y="${top + 15}">${number(value)}</text>`;
  });
  return `<g transform="translate(${x} ${y})">
  <text class="title" x="0" y="16">${title}</text><text class="hint" x="${panelWidth - 12}" y="16" text-anchor="end">${hint}</text>
${drawn.join('\n')}
</g>`;
}

function panelsOf(results: Results): Panel[] {
  /** A bar for each side that has the figure of that name. */
  const panel = (title: string, hint: string, scenario: string, names: [SideName | 'copy', string][]): Panel => ({
    title,
    hint,
    bars: names.flatMap(([side, name]) => {
      const value = results[scenario]?.figures.find((figure) => figure.name === name)?.value;
      const label = side === 'copy' ? 'raw COPY (the limit)' : titles[side];
      return value === undefined ? [] : [{ label, value, ours: side === 'runledger' }];
    }),
  });
  const each = (sides: SideName[], name: (title: string) => string): [SideName, string][] =>
    sides.map((side) => [side, name(titles[side])]);
  const storing: SideName[] = ['naive', 'job-per-event', 'runledger'];
  const cpu = each(['bare', 'stack', ...storing], (title) => `CPU of ${title} at 64 connections`);
  const drains = each(['job-per-event', 'runledger'], (title) => `${title} drains`);
  const perCpuSecond = each(storing, (title) => `${title} stores for a second of CPU`);
  return [
    panel('Ingest: CPU per event, µs', 'less is better', 'ingest', cpu),
    panel('Drain of the queue: events/s', 'more is better', 'drain', [['copy', 'COPY of the same rows'], ...drains]),
    panel(
      'Request to outcome: events/s',
      'more is better',
      'pipeline',
      each(storing, (title) => `${title} stores`),
    ),
    panel('The same, per second of CPU time', 'more is better', 'pipeline', perCpuSecond),
  ];
}
