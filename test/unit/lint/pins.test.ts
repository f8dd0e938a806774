import { glob, readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { parse } from 'yaml';
import { ownVersion, statedVersions } from '../../support/version.ts';

/** The lines of files, with their place, that one of the patterns matches. */
async function lines(files: string | string[], pattern: RegExp): Promise<{ place: string; found: string }[]> {
  const matches: { place: string; found: string }[] = [];
  for await (const file of glob(files)) {
    for (const [index, line] of (await readFile(file, 'utf8')).split('\n').entries()) {
      const [, found] = pattern.exec(line) ?? [];
      if (found !== undefined) matches.push({ place: `${file}:${index + 1}`, found });
    }
  }
  return matches;
}

/** What does not match, as `file:line: text`. */
function loose(all: { place: string; found: string }[], pinned: RegExp): string {
  return all
    .filter(({ found }) => !pinned.test(found))
    .map(({ place, found }) => `${place}: ${found}`)
    .join('\n');
}

/** A name, a tag for people, and the digest that counts. */
const pinnedImage = /^[\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}$/;

/** Images that this project builds: their digest is known once they are pushed. */
const own = /^ghcr\.io\/runledger\//;

describe('what others publish is pinned', () => {
  it('actions, by the commit, with their version beside it', async () => {
    const used = await lines(['.github/workflows/*.{yaml,yml}', 'deploy/examples/*.yaml'], /^\s*-?\s*uses:\s+(.+)$/);
    expect(used).to.have.length.above(0);
    expect(loose(used, /^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)).to.equal('');
  });

  it('images, by the digest, with their tag before it', async () => {
    const named = [
      ...(await lines('Dockerfile', /^(?:FROM|ARG \w*IMAGE=?) ?(?!\$|scratch)(\S+)/)),
      ...(await lines('deploy/**/*.{yaml,yml}', /^\s*-?\s*(?:image|imageName):\s+(\S+)$/)),
      ...(await lines('charts/**/*.yaml', /^\s*image:\s+(?!\{\{)(\S+)$/)),
    ];
    expect(named).to.have.length.above(6);
    expect(
      loose(
        named.filter(({ found }) => !own.test(found)),
        pinnedImage,
      ),
    ).to.equal('');
  });

  it("the chart's bundled images, which values name by their tag", async () => {
    const digests = parse(await readFile('charts/runledger/files/digests.yaml', 'utf8')) as Record<string, string>;
    const values = parse(await readFile('charts/runledger/values.yaml', 'utf8')) as Record<
      'redis' | 'postgresql',
      { image: { repository: string; tag: string } }
    >;
    const bundled = [values.redis, values.postgresql].map(({ image }) => `${image.repository}:${image.tag}`);
    expect(Object.keys(digests)).to.have.members(bundled);
    for (const digest of Object.values(digests)) expect(digest).to.match(/^sha256:[0-9a-f]{64}$/);
  });
});

describe('the version', () => {
  it('of package.json stands wherever one is named', async () => {
    const version = await ownVersion();
    const named = await statedVersions();
    expect(named.map(({ place }) => place)).to.include.members(['charts/runledger/Chart.yaml', 'package-lock.json']);
    expect(named.filter((one) => one.version !== version)).to.deep.equal([]);
  });

  it('has a section of the changelog, below what is not released yet', async () => {
    const headings = (await lines('CHANGELOG.md', /^## (.*)$/)).map(({ found }) => found);
    const links = (await lines('CHANGELOG.md', /^(\[.*\]): https:/)).map(({ found }) => found);
    expect(links).to.deep.equal(headings.map((heading) => heading.replace(/ - .*/, '')));
    expect(headings[0]).to.equal('[Unreleased]');
    expect(headings[1]).to.match(new RegExp(`^\\[${await ownVersion()}\\] - \\d{4}-\\d\\d-\\d\\d$`));
  });
});
