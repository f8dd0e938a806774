import { basename, dirname, join } from 'node:path';
import { expect } from 'chai';
import { settings } from '../../../internal/config/settings.ts';
import { joined, offences, readTree, type Tree } from '../../support/tracked-texts.ts';

const documents = /^(README|ARCHITECTURE|CONTRIBUTING|CHANGELOG)\.md$|^(deploy|charts|docs)\/.*(\.md|values\.yaml)$/;

/** Variables that are no settings of Runledger's processes. */
const otherVariables = new Set(
  [
    'DRAIN_EVENTS DRAIN_JOBS BURST_EVENTS GROWTH_EVENTS UPDATE_SNAPSHOTS CITUS_URL',
    'RUNLEDGER_URL RUNLEDGER_TOKEN RUNLEDGER_TOKEN_FILE RUNLEDGER_CA_FILE RUNLEDGER_SPOOL RUNLEDGER_TIMEOUT_MS',
    'RUNLEDGER_SPOOL_MAX_BYTES RUNLEDGER_SPOOL_MAX_EVENTS RUNLEDGER_CONSOLE_URL RUNLEDGER_READ_TOKEN NO_COLOR',
    'RUNLEDGER_AUTOMATION_ID RUNLEDGER_EXECUTION_ID HTTPS_PROXY NO_PROXY',
    'AWS_REGION AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_ENDPOINT_URL_S3',
    'AWS_ACCESS_KEY_ID_FILE AWS_SECRET_ACCESS_KEY_FILE PGUSER_FILE PGPASSWORD_FILE',
    'HOST_NAME HTTP_PORT REDIS_MAXMEMORY RUNLEDGER_VERSION NODE_OPTIONS NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE',
  ].flatMap((names) => names.split(' ')),
);

function headings(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => title.replaceAll('`', ''));
}

function anchor(title: string): string {
  const kept = title.toLowerCase().replaceAll(/[^\p{L}\p{N} _-]/gu, '');
  return kept.replaceAll(' ', '-');
}

/** Each kind of reference, with the dangling ones that a tree has. */
const kinds: Record<string, (tree: Tree) => string[]> = {
  files: ({ texts, paths }) => {
    const path =
      /(?<![\w./@$}-])(?:cmd|internal|test|deploy|charts|docs)\/[\w./-]*\w\.(?:ts|md|ya?ml|tpl|sql|json|svg|sh)\b/g;
    const names = new Set([...paths].map((known) => basename(known)));
    return offences(texts, ({ file, text }) => {
      const full = [...text.matchAll(path)].map(([name]) => name).filter((name) => !paths.has(name));
      if (!documents.test(file)) return full;
      const short = [...text.matchAll(/`([\w.-]+\.(?:ts|tpl|sql))`/g)].map(([, name = '']) => name);
      const folders = [...text.matchAll(/`((?:cmd|internal|test|deploy|docs)\/[\w/-]*)`/g)].map(
        ([, name = '']) => name,
      );
      return [
        ...full,
        ...short.filter((name) => !names.has(name)),
        ...folders.filter((name) => !paths.has(name.replace(/\/$/, ''))),
      ];
    });
  },

  links: ({ texts, paths }) =>
    offences(texts, ({ file, text }) => {
      if (!file.endsWith('.md')) return [];
      return [...text.matchAll(/\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].flatMap(([whole, target = '', part]) => {
        const to = target === '' ? file : join(dirname(file), target).replace(/\/$/, '');
        if (!paths.has(to)) return [whole];
        const has = part === undefined || headings(texts.get(to) ?? '').some((title) => anchor(title) === part);
        return has ? [] : [whole];
      });
    }),

  'links to the repository': ({ texts, paths }) =>
    offences(texts, ({ text }) =>
      [...text.matchAll(/github\.com\/runledger\/runledger\/blob\/main\/([\w./-]+\w)/g)]
        .map(([, path = '']) => path)
        .filter((path) => !paths.has(path)),
    ),

  sections: ({ texts }) =>
    [...texts].flatMap(([file, text]) =>
      [...joined(text).matchAll(/((?:[\w/]+\/)?(?:ARCHITECTURE|README|CONTRIBUTING)\.md), (?:"([^"]+)"|[A-Z]\w+)/g)]
        .filter(([, to = '', title]) => title === undefined || !headings(texts.get(to) ?? '').includes(title))
        .map(([whole]) => `${file}: ${whole}`),
    ),

  settings: ({ texts }) =>
    offences(texts, ({ file, text }) => {
      const inHelp = file.startsWith('internal/kit/telemetry/') && /^\s*(?:help: )?['"]/.test(text);
      if (!documents.test(file) && !inHelp) return [];
      const variable = inHelp ? /\b([A-Z]+(?:_[A-Z]+)+)\b/g : /`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:=[^`]*)?`/g;
      return [...text.matchAll(variable)]
        .map(([, name = '']) => name)
        .filter((name) => !(name in settings || name.replace(/_FILE$/, '') in settings || otherVariables.has(name)));
    }),

  metrics: ({ texts }) => {
    const code = [...texts].filter(([file]) => file.startsWith('internal/')).map(([, text]) => text);
    const names = new Set(
      code.flatMap((text) => [...text.matchAll(/['"`](runledger_\w+)['"`]/g)].map(([, name]) => name)),
    );
    return offences(texts, ({ file, text }) => {
      if (!/^(README|ARCHITECTURE|deploy|charts|docs|internal\/telemetry)/.test(file)) return [];
      return [...text.matchAll(/\brunledger_[a-z_]+[a-z]\b(?![*:{]?\*)/g)]
        .map(([name]) => name)
        .filter((name) => !names.has(name) && !names.has(name.replace(/_(bucket|sum|count)$/, '')));
    });
  },

  'make targets': ({ texts }) => {
    const targets = new Set([...(texts.get('Makefile') ?? '').matchAll(/^([a-z-]+):/gm)].map(([, target]) => target));
    return offences(texts, ({ text }) =>
      [...text.matchAll(/`make ([a-z-]+)[ `]/g)]
        .map(([, target = '']) => target)
        .filter((target) => !targets.has(target)),
    );
  },

  'alerts and runbooks': ({ texts, paths }) => {
    const rules = texts.get('deploy/prometheus/alerts.rules.yaml') ?? '';
    const alerts = new Set([...rules.matchAll(/alert: (\w+)/g)].map(([, name = '']) => name));
    const runbooks = new Set(
      [...paths].flatMap((path) => /^docs\/operate\/runbooks\/(\w+)\.md$/.exec(path)?.[1] ?? []),
    );
    return [...[...alerts].filter((name) => !runbooks.has(name)), ...[...runbooks].filter((name) => !alerts.has(name))];
  },
};

/** A text that breaks one reference of each kind, in a file of that name. */
const broken: Record<keyof typeof kinds, [file: string, text: string]> = {
  files: ['README.md', 'See internal/gone.ts, `gone.ts` and `internal/gone`.'],
  links: ['README.md', '[gone](gone.md) [no heading](README.md#gone)'],
  'links to the repository': ['a.yaml', 'https://github.com/runledger/runledger/blob/main/gone.md'],
  sections: ['internal/a.ts', '/** (ARCHITECTURE.md,\n * "Gone") and (ARCHITECTURE.md, Unquoted) */'],
  settings: ['README.md', '`GONE_SETTING=1`'],
  metrics: ['deploy/a.yaml', 'expr: rate(runledger_gone_total[5m])'],
  'make targets': ['README.md', 'Run `make gone`.'],
  'alerts and runbooks': ['deploy/prometheus/alerts.rules.yaml', '- alert: RunledgerGone'],
};
const brokenCounts: Record<string, number> = { files: 3, links: 2, sections: 2 };

describe('references', () => {
  const tree = readTree();
  for (const [kind, dangling] of Object.entries(kinds)) {
    it(`of the kind "${kind}" lead to something`, () => {
      expect(dangling(tree).join('\n')).to.equal('');
    });

    it(`of the kind "${kind}" are found when they are broken`, () => {
      const [file, text] = broken[kind] ?? ['', ''];
      const paths = new Set([file]);
      expect(dangling({ texts: new Map([[file, text]]), paths })).to.have.length(brokenCounts[kind] ?? 1);
    });
  }
});
