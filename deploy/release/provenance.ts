import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

const [, , version = '', commit = '', folder = '', baseFolder = ''] = process.argv;
const source = 'https://github.com/runledger/runledger';

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}

async function digestsOf(from: string, names: readonly string[]): Promise<{ name: string; digest: object }[]> {
  return Promise.all(names.map(async (name) => ({ name, digest: { sha256: await digestOf(join(from, name)) } })));
}

/** The image below Runledger's own: as the Dockerfile pins it, or files in its place. */
async function base(): Promise<object[]> {
  if (baseFolder !== '') {
    const files = await digestsOf(baseFolder, (await readdir(baseFolder)).sort());
    return files.map(({ name, digest }) => ({ uri: `file:${name}`, digest }));
  }
  const [, uri = '', sha256 = ''] =
    /^ARG NODE_IMAGE=(\S+)@sha256:(\w+)$/m.exec(await readFile('Dockerfile', 'utf8')) ?? [];
  return [{ uri: `docker://${uri}`, digest: { sha256 } }];
}

/*
 * Prints the provenance of the files in a folder: what they were built from, as a statement of
 * in-toto with a predicate of SLSA.
 */
const names = (await readdir(folder)).filter((name) => name.startsWith('runledger-')).sort();
const subject = await digestsOf(folder, names);
const statement = {
  _type: 'https://in-toto.io/Statement/v1',
  subject,
  predicateType: 'https://slsa.dev/provenance/v1',
  predicate: {
    buildDefinition: {
      buildType: `${source}/blob/v${version}/docs/operate/verify-a-release.md`,
      externalParameters: { version },
      resolvedDependencies: [
        { uri: `git+${source}@refs/tags/v${version}`, digest: { gitCommit: commit } },
        ...(await base()),
      ],
    },
    runDetails: { builder: { id: `${source}/blob/v${version}/deploy/release/build.sh` } },
  },
};
process.stdout.write(`${JSON.stringify(statement, null, 2)}\n`);
