import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { settings } from '../../../internal/config/settings.ts';

interface Line {
  file: string;
  number: number;
  text: string;
}

const own = 'test/unit/lint/documents.test.ts';
const tracked = execFileSync('git', ['ls-files'], { encoding: 'utf8' }).trim().split('\n');
const isText = (file: string): boolean =>
  /\.(ts|md|ya?ml|tpl|txt|sh|mjs|json|sql|lua)$|file$/.test(file) && !/package-lock|snapshots|results\//.test(file);
const texts = new Map(
  tracked
    .filter((file) => isText(file) && file !== own && existsSync(file))
    .map((file) => [file, readFileSync(file, 'utf8')]),
);
const lines: Line[] = [...texts].flatMap(([file, text]) =>
  text.split('\n').map((line, index) => ({ file, number: index + 1, text: line })),
);
const known = new Set(tracked.flatMap((file) => [file, ...parents(file)]));

function parents(file: string): string[] {
  const folder = dirname(file);
  return folder === '.' ? [] : [folder, ...parents(folder)];
}

function offenders(found: (line: Line) => string[]): string[] {
  return lines.flatMap((line) => found(line).map((what) => `${line.file}:${line.number}: ${what}`));
}

function headings(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => title.replaceAll('`', ''));
}

function anchor(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

describe('references', () => {
  it('to files lead to files', () => {
    const path =
      /(?<![\w./@$}-])(?:cmd|internal|test|deploy|charts)\/[\w./-]*\w\.(?:ts|md|ya?ml|tpl|sql|json|svg|sh)\b/g;
    const bad = offenders(({ file, text }) => {
      if (/(?:probe|target)/.test(text) || file.startsWith('test/bench/results')) return [];
      return [...text.matchAll(path)].map(([name]) => name).filter((name) => !known.has(name));
    });
    expect(bad.join('\n')).to.equal('');
  });

  it('of Markdown lead to files and headings', () => {
    const bad = offenders(({ file, text }) => {
      if (!file.endsWith('.md')) return [];
      return [...text.matchAll(/\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].flatMap(([whole, target = '', part]) => {
        const to = target === '' ? file : join(dirname(file), target).replace(/\/$/, '');
        if (!known.has(to)) return [whole];
        return part === undefined || headings(texts.get(to) ?? '').some((title) => anchor(title) === part)
          ? []
          : [whole];
      });
    });
    expect(bad.join('\n')).to.equal('');
  });

  it('to sections lead to headings', () => {
    const bad = offenders(({ text }) =>
      [...text.matchAll(/((?:[\w/]+\/)?(?:ARCHITECTURE|README|CONTRIBUTING)\.md), "([^"]+)"/g)]
        .filter(([, file = '', title = '']) => !headings(texts.get(file) ?? '').includes(title))
        .map(([whole]) => whole),
    );
    expect(bad.join('\n')).to.equal('');
  });

  it('to settings lead to settings', () => {
    const foreign = new Set(['DRAIN_EVENTS', 'DRAIN_JOBS', 'BURST_EVENTS', 'GROWTH_EVENTS', 'UPDATE_SNAPSHOTS']);
    const bad = offenders(({ file, text }) => {
      if (!/^(README\.md|ARCHITECTURE\.md|charts\/runledger\/README\.md|deploy\/runbooks\/)/.test(file)) return [];
      return [...text.matchAll(/`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:=[^`]*)?`/g)]
        .map(([, name = '']) => name)
        .filter((name) => !(name.replace(/_FILE$/, '') in settings || name in settings || foreign.has(name)));
    });
    expect(bad.join('\n')).to.equal('');
  });

  it('to metrics lead to metrics', () => {
    const code = [...texts]
      .filter(([file]) => file.startsWith('internal/'))
      .map(([, text]) => text)
      .join('\n');
    const names = new Set([...code.matchAll(/\brunledger_\w+/g)].map(([name]) => name));
    const bad = offenders(({ file, text }) => {
      if (!/^(README|ARCHITECTURE|deploy|charts)/.test(file)) return [];
      return [...text.matchAll(/\brunledger_[a-z_]+[a-z]\b(?![*:{]?\*)/g)]
        .map(([name]) => name)
        .filter((name) => !names.has(name) && !names.has(name.replace(/_(bucket|sum|count)$/, '')));
    });
    expect(bad.join('\n')).to.equal('');
  });

  it('between alerts and runbooks exist both ways', () => {
    const rules = texts.get('deploy/prometheus/alerts.rules.yaml') ?? '';
    const alerts = [...rules.matchAll(/alert: (\w+)/g)].map(([, name]) => name);
    const runbooks = tracked.flatMap((file) => /^deploy\/runbooks\/(\w+)\.md$/.exec(file)?.[1] ?? []);
    expect(runbooks).to.have.members(alerts);
  });
});

describe('words', () => {
  it('are those of the field', () => {
    const words =
      /\b(cohorts?|gathering|gatherMs|shed(?:s|ding)?|census|ow(?:e|es|ed)|Fate|TracePoint|CautiousPool|about-?days|strays|bury|opponents|guess-?brake|the books|alien|unreceipted|told of|of its own doing)\b|design, section/gi;
    const bad = offenders(({ file, text }) => {
      // The CHANGELOG names the old metric.
      return file === 'CHANGELOG.md' ? [] : [...text.matchAll(words)].map(([word]) => word);
    });
    expect(bad.join('\n')).to.equal('');
  });

  it('of prose end by column 100', () => {
    const fenced = new Set<string>();
    for (const [file, text] of texts) {
      let inside = false;
      for (const [index, line] of text.split('\n').entries()) {
        const fence = /^\s*```/.test(line);
        if (fence) inside = !inside;
        if (inside || fence) fenced.add(`${file}:${index + 1}`);
      }
    }
    const bad = offenders(({ file, number, text }) => {
      if (Array.from(text).length <= 100) return [];
      const at = `${file}:${number}`;
      const table = /^\s*\|/.test(text);
      const link = /^\s*(?:[-*] )?!?\[.*\]\(.*\)[.,]?$|https?:\/\/\S+$/.test(text);
      const markdown = file.endsWith('.md') && !table && !link && !/^ {4}/.test(text) && !fenced.has(at);
      const comment = /\.(ts|ya?ml|tpl)$/.test(file) && !link && /^\s*(\/\/|\/?\*|#|\{\{-? ?\/\*)/.test(text);
      return markdown || comment ? [`${Array.from(text).length} columns`] : [];
    });
    expect(bad.join('\n')).to.equal('');
  });
});
