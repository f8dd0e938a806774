import { expect } from 'chai';
import { mkdir, mkdtemp, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FileTokenSource } from '../../../internal/cluster/tokens/file-token-source.ts';
import { createToken, secretManifest, tokenEntry } from '../../../internal/cluster/tokens/manifest.ts';
import { until } from '../../support/until.ts';
import { capturedMetrics } from '../../support/cluster/token-fixtures.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { replaceFile } from '../../support/replace-file.ts';

describe('file token source', () => {
  const [old, fresh] = [createToken(), createToken()];
  let folder: string;
  let path: string;
  let source: FileTokenSource;
  let logs: ReturnType<typeof recordingLogger>;
  let metrics: ReturnType<typeof capturedMetrics>;

  const manifest = (...tokens: string[]): string =>
    secretManifest({
      organization: 'acme',
      entries: Object.assign({}, ...tokens.map((token) => tokenEntry(token))),
    });
  const known = (token: string) => source.authenticate(token).status === 'known';
  const swapped = () => until('the new token in use', () => known(fresh) && !known(old));

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'runledger-tokens-'));
    path = join(folder, 'tokens.yaml');
    logs = recordingLogger();
    metrics = capturedMetrics();
    source = new FileTokenSource({ path, logger: logs.logger, metrics: metrics.metrics, intervalMs: 20 });
  });
  afterEach(async () => {
    await source.stop();
    await source.stop();
    await rm(folder, { recursive: true });
  });

  it('serves the tokens of the file', async () => {
    await writeFile(path, manifest(old));
    expect(source.authenticate(old)).to.deep.equal({ status: 'not-loaded' });
    expect(source.unready()).to.contain(path);
    await source.start();
    expect(source.unready()).to.equal(undefined);
    expect(source.authenticate(old)).to.include({ status: 'known', organization: 'acme', scope: 'write' });
    expect(source.authenticate(fresh)).to.deep.equal({ status: 'unknown' });
    expect(await metrics.value('runledger_tokens{')).to.equal(1);
    expect(await metrics.value('runledger_token_organizations{')).to.equal(1);
  });

  it('takes a change made in place', async () => {
    await writeFile(path, manifest(old));
    await source.start();
    await writeFile(path, manifest(fresh));
    await swapped();
  });

  it('takes a change made by renaming another file over it', async () => {
    await writeFile(path, manifest(old));
    await source.start();
    await replaceFile(path, manifest(fresh));
    await swapped();
  });

  it('takes a change made by swapping a symlink, as Kubernetes does with volumes', async () => {
    for (const [version, token] of Object.entries({ v1: old, v2: fresh })) {
      await mkdir(join(folder, version));
      await writeFile(join(folder, version, 'tokens.yaml'), manifest(token));
    }
    await symlink('v1', join(folder, '..data'));
    await symlink('..data/tokens.yaml', path);
    await source.start();
    expect(known(old)).to.equal(true);
    await symlink('v2', join(folder, '..next'));
    await rename(join(folder, '..next'), join(folder, '..data'));
    await swapped();
  });

  it('keeps the last good tokens while the file is broken, empty or missing, and says so once each', async () => {
    await writeFile(path, manifest(old));
    await source.start();
    const complaints = () => logs.lines.filter((line) => line.includes('keeping the last valid tokens'));

    await replaceFile(path, `stringData: { token: "${fresh}`);
    await until('a complaint about the broken file', () => complaints().length === 1);
    expect(complaints()[0]).to.contain(path).and.contain('not valid YAML').and.not.contain(fresh);
    await replaceFile(path, '');
    await until('a complaint about the empty file', () => complaints().length === 2);
    await unlink(path);
    await until('a complaint about the missing file', () => complaints().length === 3);
    await source.refresh();
    await source.refresh();
    expect(complaints()).to.have.length(3);
    expect(known(old)).to.equal(true);

    await writeFile(path, manifest(fresh));
    await swapped();
  });

  it('logs and counts what it refuses, without the value', async () => {
    await writeFile(path, `${manifest(old)}stringData: { token: tiny-secret }\n`);
    await source.start();
    expect(known(old)).to.equal(true);
    expect(logs.lines.join('')).to.contain('token: the token is shorter').and.not.contain('tiny-secret');
    expect(await metrics.value('runledger_token_secrets_refused{reason="too-short"')).to.equal(1);
    await writeFile(path, manifest(old));
    await until(
      'the refusal gone',
      async () => (await metrics.value('runledger_token_secrets_refused{reason="too-short"')) === 0,
    );
  });

  it('does not start without a usable file, and names it', async () => {
    const failure = async (): Promise<string> => source.start().then(() => 'started', String);
    expect(await failure()).to.contain(path);
    await writeFile(path, '# nothing yet');
    expect(await failure()).to.contain(`${path}: no Secret in it`);
    await writeFile(path, '"');
    expect(await failure()).to.match(/tokens\.yaml: line 1, column \d+: not valid YAML/);
    expect(source.authenticate(old).status).to.equal('not-loaded');
  });
});
