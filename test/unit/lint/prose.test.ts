import { expect } from 'chai';
import { offences, readTree, type Line, type Texts } from '../../support/tracked-texts.ts';

/** Words that only this project understood, and phrases that are read twice. */
const privateWords = new RegExp(
  [
    /in-cohorts|cohorts?|gathering|gatherMs|sheds?|shedding|judges?|LazyQueue|census|brakes?|guess-?brake|owe[sd]?/,
    /BatchPace|Fate|TracePoint|here\(\)|the books|CautiousPool|about-?days|strays|bury|buries|buried|opponents|alien/,
    /unreceipted|improper|told of|of its own doing|whoever|that which|goe?s? on|going on|mend(?:s|ed|ing)?|stands?/,
    /comes? to|bears?|(?:is|are) away|anew|in force|lies about|hold(?:s|ing)? (?:back|out|up(?! to))|design, section/,
  ]
    .map(({ source }) => source)
    .join('|')
    .replace(/.*/s, String.raw`(?<![\w-])(?:$&)(?![\w-])`),
  'gi',
);

function forbiddenWords(texts: Texts): string[] {
  // The CHANGELOG names the old metric.
  return offences(texts, ({ file, text }) =>
    file === 'CHANGELOG.md' ? [] : [...text.matchAll(privateWords)].map(([word]) => word),
  );
}

const longest = 100;

/** Lines of a file that are prose: comments, Markdown without tables and code, descriptions. */
function longProse(texts: Texts): string[] {
  let fenced = false;
  let inComment = false;
  return offences(texts, (line) => {
    if (line.number === 1) fenced = inComment = false;
    const fence = /^\s*```/.test(line.text);
    if (fence) fenced = !fenced;
    const opened = line.file.endsWith('.tpl') && /\{\{-? ?\/\*/.test(line.text);
    inComment ||= opened;
    const prose = isProse(line, fenced || fence) || inComment;
    if (inComment && line.text.includes('*/')) inComment = false;
    const columns = Array.from(line.text).length;
    return prose && columns > longest && !isLink(line.text) ? [`${columns} columns`] : [];
  });
}

function isProse({ file, text }: Line, fenced: boolean): boolean {
  if (file.endsWith('.md')) return !fenced && !/^\s*\|/.test(text) && !/^ {4}/.test(text);
  if (/\/openapi.*\.yaml$/.test(file)) return !/\b(?:pattern|detail):/.test(text);
  if (/\.(ts|mjs)$/.test(file)) return /^\s*(?:\/\/|\/?\*)/.test(text);
  if (/\.(ya?ml|tpl|sh)$|file$/.test(file)) return /^\s*(?:#|\{\{-? ?\/\*)/.test(text);
  return /\.(sql|lua)$/.test(file) && /^\s*--/.test(text);
}

function isLink(text: string): boolean {
  return /^\s*(?:[-*] )?!?\[.*\]\(.*\)[.,]?$|https?:\/\/\S+$/.test(text);
}

describe('prose', () => {
  const { texts } = readTree();

  it('uses the words of the field', () => {
    expect(forbiddenWords(texts).join('\n')).to.equal('');
    const wrong = 'One cohort is shed. The load goes on. The books balance.';
    expect(forbiddenWords(new Map([['test/a.ts', wrong]]))).to.have.length(4);
  });

  it('ends by column 100', () => {
    expect(longProse(texts).join('\n')).to.equal('');
    const long = 'word '.repeat(21);
    const files = { 'a.ts': `// ${long}`, Dockerfile: `# ${long}`, 'a.md': long, 'b.tpl': `{{/*\n${long}\n*/}}` };
    expect(longProse(new Map(Object.entries(files)))).to.have.length(4);
  });
});
