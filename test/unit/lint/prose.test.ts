import { expect } from 'chai';
import { offences, readTree, type Line, type Texts } from '../../support/tracked-texts.ts';

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
  if (/\/openapi(?:\/.*)?\.yaml$/.test(file)) return !/\b(?:pattern|detail):/.test(text);
  if (/\.(ts|mjs|go|s)$/.test(file)) return /^\s*(?:\/\/|\/?\*)/.test(text);
  if (/\.(ya?ml|tpl|sh)$|file$/.test(file)) return /^\s*(?:#|\{\{-? ?\/\*)/.test(text);
  return /\.(sql|lua)$/.test(file) && /^\s*--/.test(text);
}

function isLink(text: string): boolean {
  return /^\s*(?:[-*] )?!?\[.*\]\(.*\)[.,]?$|https?:\/\/\S+$/.test(text);
}

describe('prose', () => {
  const { texts } = readTree();

  it('ends by column 100', () => {
    expect(longProse(texts).join('\n')).to.equal('');
    const long = 'word '.repeat(21);
    const files = {
      'a.ts': `// ${long}`,
      'a.go': `// ${long}`,
      Dockerfile: `# ${long}`,
      'a.md': long,
      'b.tpl': `{{/*\n${long}\n*/}}`,
    };
    expect(longProse(new Map(Object.entries(files)))).to.have.length(5);
  });
});
