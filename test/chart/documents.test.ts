import { access, glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse, stringify } from 'yaml';
import { contentOf } from '../../internal/controller/declarations/file-content.ts';
import { render, repository } from '../support/helm.ts';
import { environmentOf, objectOf, specOf, thePod } from '../support/helm-manifests.ts';

/** The fenced blocks of a document in one of these languages. */
function blocks(text: string, ...languages: string[]): string[] {
  const found = [...text.matchAll(/^ *```(\w*)(?: \w+)?\n([^]*?)^ *```$/gm)];
  return found.filter(([, language = '']) => languages.includes(language)).map(([, , content = '']) => content);
}

describe('chart and deploy, documents', () => {
  let page: string;
  before(async () => {
    page = await readFile(join(repository, 'docs/operate/secrets.md'), 'utf8');
  });

  it('have commands that every shell accepts, with answers that end with a newline', async () => {
    const found: string[] = [];
    for await (const file of glob('{{charts,deploy,docs}/**/*.{md,txt,sh},README.md}', { cwd: repository })) {
      const text = await readFile(join(repository, file), 'utf8');
      const commands = file.endsWith('.md') ? blocks(text, '', 'sh') : [text];
      const lines = commands.flatMap((block) => block.split('\n'));
      // zsh hands a comment at the prompt to the command, and looks for files that match what it
      // holds.
      const comments = file.endsWith('.sh') ? [] : lines.filter((line) => /(^|\s)#\s/.test(line));
      // An answer that goes elsewhere needs no newline more.
      const shown = lines.filter((line) => /^ *curl /.test(line) && !/>>|--output|-N|\/v1\/export\//.test(line));
      const curls = shown.filter((line) => !line.includes("curl -w '\\n' "));
      found.push(...[...comments, ...curls].map((line) => `${file}: ${line}`));
    }
    expect(found).to.deep.equal([]);
  });

  it('tell Artifact Hub of the definitions, of examples that they accept, and of pictures in this repository', async () => {
    const text = await readFile(join(repository, 'charts/runledger/Chart.yaml'), 'utf8');
    const { annotations } = parse(text) as { annotations: Record<string, string> };
    const told = (name: string): unknown => parse(annotations[`artifacthub.io/${name}`] ?? '');
    const definitions = (await render(['--show-only', 'templates/crds/*.yaml'])).map(({ metadata, ...definition }) => {
      const { names, versions } = definition['spec'] as { names: { kind: string }; versions: { name: string }[] };
      return { name: metadata.name, kind: names.kind, version: versions[0]?.name };
    });
    const crds = told('crds') as ((typeof definitions)[number] & { description: string })[];
    expect(crds.map(({ name, kind, version }) => ({ name, kind, version }))).to.deep.equal(definitions);
    // In a namespace with the label of an organization, as the examples of deploy/examples.
    const examples = told('crdsExamples') as object[];
    const [namespace] = (await readFile(join(repository, 'deploy/examples/automations.yaml'), 'utf8')).split('---\n');
    const file = [namespace, ...examples.map((one) => stringify(one))].join('---\n');
    const { acceptances } = contentOf(file, 'automations.yaml');
    expect(acceptances.map(({ accepted }) => accepted)).to.deep.equal([true, true]);
    const own =
      /https:\/\/(?:raw\.githubusercontent\.com\/runledger\/runledger\/main|github\.com\/runledger\/runledger\/tree\/main)\/(\S+)/g;
    const paths = [...text.matchAll(own)].map(([, path = '']) => path);
    expect(paths).to.have.length.above(5);
    await Promise.all(paths.map((path) => access(join(repository, path))));
  });

  it('restart every pod that uses the password of Redis', async () => {
    const manifests = await render();
    const restarted = blocks(page, 'sh')
      .flatMap((block) => block.split('\n'))
      .filter((line) => line.includes('rollout restart'))
      .flatMap((line) => [...line.matchAll(/(\w+)\/(\S+)/g)].map(([, kind, name = '']) => [kind, name] as const));
    expect(restarted.map(([kind]) => kind)).to.deep.equal(['statefulset', 'deployment', 'deployment', 'deployment']);
    const kinds = { statefulset: 'StatefulSet', deployment: 'Deployment' } as Record<string, string>;
    for (const [kind = '', name] of restarted) objectOf(manifests, kinds[kind] ?? kind, name);
  });

  it('have complete values for the Vault agent injector', async () => {
    const recipe = blocks(page, 'yaml').find((block) => block.includes('vault.hashicorp.com')) ?? '';
    const values = Object.entries(parse(recipe) as object);
    const manifests = await render(values.flatMap(([key, value]) => ['--set-json', `${key}=${JSON.stringify(value)}`]));
    const { template } = specOf<{
      template: { metadata: { annotations: Record<string, string> } };
    }>(manifests, 'Deployment', 'runledger-worker');
    const { annotations } = template.metadata;
    expect(annotations).to.include({
      'vault.hashicorp.com/agent-inject': 'true',
      'vault.hashicorp.com/agent-init-first': 'true',
    });
    const pod = thePod(manifests, 'runledger-worker');
    // The injector takes the file's name from the annotation's.
    const url = { DATABASE_URL_FILE: '/vault/secrets/database-url' };
    expect(annotations).to.have.property('vault.hashicorp.com/agent-inject-secret-database-url');
    for (const container of [...(pod.initContainers ?? []), ...pod.containers]) {
      expect(environmentOf(container), container.name).to.include(url);
    }
    expect(pod.serviceAccountName).to.equal('runledger-worker');
    const volume = annotations['vault.hashicorp.com/agent-service-account-token-volume-name'];
    const token = pod.volumes?.find(({ name }) => name === volume);
    expect(token).to.have.nested.property('projected.sources[0].serviceAccountToken.path', 'token');
    for (const name of ['runledger-worker', 'runledger-ingest']) {
      const vault = { egress: [{ ports: [{ port: 8200 }] }] };
      expect(specOf(manifests, 'NetworkPolicy', name)).to.containSubset(vault);
    }
  });
});
