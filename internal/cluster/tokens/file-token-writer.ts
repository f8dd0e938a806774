import { access, constants, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Document, isMap, isSeq, parseAllDocuments, type YAMLMap } from 'yaml';
import type { SecretManifest } from '../secret.ts';
import { defaultLabelSelector, organizationLabelOf } from './label-selector.ts';
import { readManifestFile } from './manifest-file.ts';
import { checkOrganization, secretName } from './manifest.ts';
import { managedAnnotation } from './token-set.ts';
import { liveTokensOf, type LiveToken, type TokenChange, type TokenWriter } from './token-writer.ts';

/**
 * Writes tokens into the file of Secret manifests and leaves the rest of it alone, even comments. A
 * new file replaces the old one, so that no reader sees half of it.
 */
export class FileTokenWriter implements TokenWriter {
  readonly #path: string;
  readonly #label: string;

  constructor(path: string, labelSelector = defaultLabelSelector) {
    this.#path = path;
    this.#label = organizationLabelOf(labelSelector);
  }

  async problem(): Promise<string | undefined> {
    const writable = [this.#path, dirname(this.#path)].map((place) => access(place, constants.W_OK));
    return Promise.all(writable).then(
      () => undefined,
      () => `The controller cannot write ${this.#path}, or make a file beside it.`,
    );
  }

  async read(organization: string): Promise<LiveToken[]> {
    const secrets = await readManifestFile(this.#path);
    return secrets.flatMap((secret) => liveTokensOf(secret, this.#label, organization));
  }

  async write(organization: string, { set = {}, remove = [] }: TokenChange): Promise<void> {
    checkOrganization(organization);
    const text = await readFile(this.#path, 'utf8');
    const documents = [...parseAllDocuments(text, { logLevel: 'silent' })] as Document[];
    const isValid = documents.every(({ errors }) => errors.length === 0);
    if (!isValid) throw new Error(`${this.#path} is not valid YAML`);
    const secrets = documents.flatMap(({ contents }) => secretsIn(contents));
    for (const { secret, entry } of remove) {
      for (const node of secrets.filter((one) => this.#isOf(one, organization) && nameOf(one) === secret)) {
        for (const part of ['data', 'stringData']) if (isMap(node.get(part))) node.deleteIn([part, entry]);
        node.setIn(['metadata', 'annotations', managedAnnotation], 'console');
      }
    }
    if (Object.keys(set).length > 0) {
      const name = secretName(organization);
      const known = secrets.find((one) => this.#isOf(one, organization) && nameOf(one) === name);
      if (known === undefined) documents.push(this.#newSecret(name, organization, set));
      else if (!isMap(known.get('data'))) known.set('data', encoded(set));
      else for (const [entry, value] of Object.entries(encoded(set))) known.setIn(['data', entry], value);
    }
    await this.#replace(text, documents.map((document, index) => textOf(document, index)).join(''));
  }

  #isOf(secret: YAMLMap, organization: string): boolean {
    return secret.getIn(['metadata', 'labels', this.#label]) === organization;
  }

  #newSecret(name: string, organization: string, set: Readonly<Record<string, string>>): Document {
    const metadata = { name, labels: { [this.#label]: organization }, annotations: { [managedAnnotation]: 'console' } };
    const secret: SecretManifest & object = { metadata, type: 'Opaque', data: encoded(set) };
    return new Document({ apiVersion: 'v1', kind: 'Secret', ...secret });
  }

  /** @throws when somebody else has changed the file since it was read. */
  async #replace(before: string, after: string): Promise<void> {
    const path = this.#path;
    const { mode } = await stat(path);
    const draft = join(dirname(path), `.${process.pid}.tokens.tmp`);
    try {
      await using file = await open(draft, 'w', mode & 0o777);
      await file.writeFile(after);
      await file.sync();
      if ((await readFile(path, 'utf8')) !== before) throw new Error(`${path} has changed meanwhile`);
      await rename(draft, path);
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
  }
}

/** The Secrets of a document, including those in a `List`. */
function secretsIn(node: unknown): YAMLMap[] {
  if (!isMap(node)) return [];
  const items = node.get('items');
  if (node.get('kind') === 'List' && isSeq(items)) return items.items.flatMap(secretsIn);
  return node.get('kind') === 'Secret' ? [node] : [];
}

function nameOf(secret: YAMLMap): unknown {
  return secret.getIn(['metadata', 'name']);
}

function encoded(set: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(set).map(([entry, digest]) => [entry, Buffer.from(digest).toString('base64')]),
  );
}

/** The text of a document; all but the first need a separator line. */
function textOf(document: Document, index: number): string {
  const text = document.toString({ lineWidth: 0 });
  return index === 0 || text.startsWith('---') || text.startsWith('%') ? text : `---\n${text}`;
}
