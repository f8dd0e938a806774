import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { FileDeclarationSource } from '../../../internal/controller/declarations/file-source.ts';
import { automationMetrics } from '../../../internal/controller/declarations/automation-metrics.ts';
import { createRegistry } from '../../../internal/kit/telemetry/metrics.ts';
import { failureOf } from '../../support/failure.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { replaceFile } from '../../support/replace-file.ts';
import { until } from '../../support/until.ts';

const example = new URL('../../../deploy/examples/automations.yaml', import.meta.url);

describe('declarations in a file', () => {
  let folder: string;
  let path: string;
  let source: FileDeclarationSource;
  let logs: ReturnType<typeof recordingLogger>;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'runledger-automations-'));
    path = join(folder, 'automations.yaml');
    await copyFile(example, path);
    logs = recordingLogger();
    const metrics = automationMetrics(createRegistry('test'));
    source = new FileDeclarationSource({ path, logger: logs.logger, metrics, intervalMs: 20 });
  });
  afterEach(async () => {
    await source.stop();
    await rm(folder, { recursive: true });
  });

  const names = (): string[] | undefined => source.current()?.automations.map(({ name }) => name);
  const channel = { namespace: 'acme-automations', name: 'incidents' };

  it('are those of the example, and no sooner than the start', async () => {
    expect(source.unready()).to.equal(`the automations of ${path} are not loaded`);
    expect(source.current()).to.equal(undefined);
    await source.start();
    expect(source.unready()).to.equal(undefined);
    expect(names()).to.deep.equal(['nightly-invoices', 'stock-sync', 'answer-mail']);
    const [declared] = source.current()?.automations ?? [];
    expect(declared).to.deep.include({
      organization: 'acme',
      owner: 'billing',
      uid: 'file:acme-automations/nightly-invoices',
    });
    expect(source.secretsOf(channel)).to.deep.equal(['whsec_cmVwbGFjZS1tZS1yZXBsYWNlLW1lLXJlcGxhY2UtbWU=']);
    expect(logs.records.filter(({ level }) => level !== 'info')).to.deep.equal([]);
  });

  it('follow a change, and have another generation then', async () => {
    await source.start();
    const before = source.current()?.automations ?? [];
    await replaceFile(path, (await readFile(path, 'utf8')).replace('every: 1h', 'every: 2h'));
    const after = await until('the change', () => {
      const now = source.current()?.automations ?? [];
      return now === before ? undefined : now;
    });
    const changed = after.filter(({ generation }, index) => generation !== before[index]?.generation);
    expect(changed.map(({ name, expect: expectation }) => [name, expectation?.every])).to.deep.equal([
      ['stock-sync', '2h'],
    ]);
  });

  it('stay as they are when the file becomes invalid, and the log says why without its text', async () => {
    await source.start();
    await replaceFile(path, 'kind: Automation\nsecret-1: whsec_x: y');
    const said = await until('the complaint', () => logs.records.find(({ level }) => level === 'error'));
    expect(said.message).to.equal('automations file is invalid, keeping the last valid one');
    expect(JSON.stringify(said.fields)).to.include(`${path}: line 2, column`).and.not.to.include('whsec_x');
    expect(names()).to.have.length(3);
  });

  it('log a resource that is refused, and keep the others', async () => {
    await writeFile(path, (await readFile(path, 'utf8')).replace("'30 2 * * 1-5'", 'at noon'));
    await source.start();
    expect(names()).to.deep.equal(['stock-sync', 'answer-mail']);
    const warning = logs.records.find(({ level }) => level === 'warn');
    expect(warning?.fields).to.deep.include({
      kind: 'Automation',
      name: 'nightly-invoices',
      reason: 'InvalidSchedule',
    });
  });

  it('have no organization without a labelled Namespace', async () => {
    await writeFile(path, (await readFile(path, 'utf8')).replace('{ runledger.dev/organization: acme }', '{}'));
    await source.start();
    expect(names()).to.deep.equal([]);
    expect(logs.records.filter(({ fields }) => fields['reason'] === 'NoOrganization')).to.have.length(6);
  });

  for (const [text, complaint] of [
    ['kind: Pod', 'Pod is unknown; known are Automation, Channel, Namespace, Secret'],
    ['kind: Automation\napiVersion: v1', 'Automation: apiVersion must be runledger.dev/v1beta1'],
    ['kind: Secret\napiVersion: v1', 'a manifest of kind Secret has no metadata.name'],
    ['', 'no manifest in it'],
    ['- a', 'every document must be a Kubernetes manifest with a kind'],
  ] as const) {
    it(`do not start with ${JSON.stringify(text)}`, async () => {
      await writeFile(path, text);
      expect(await failureOf(source.start())).to.include({ message: `${path}: ${complaint}` });
    });
  }
});
