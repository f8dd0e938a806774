import { access, appendFile, writeFile } from 'node:fs/promises';
import { createToken, secretManifest, tokenEntry } from '../../internal/cluster/tokens/manifest.ts';
import type { Scope } from '../../internal/cluster/tokens/token-entry.ts';
import { replaceable } from '../demo/replaceable.ts';
import type { DataFolder } from './data-folder.ts';

/** The namespace of the organization; `Automation` and `Channel` manifests may follow. */
const noAutomations = `${replaceable}
apiVersion: v1
kind: Namespace
metadata: { name: demo, labels: { runledger.dev/organization: demo } }
`;

/**
 * Creates the organization `demo` once, with a write token, a read token and a ping key. The owner
 * may change the manifests, and declare automations in a file beside them.
 */
export async function ensureDemoOrganization(folder: DataFolder): Promise<void> {
  const isNew = !(await exists(folder.tokens));
  if (isNew) await addToken(folder, 'write', folder.demoToken);
  if (!(await exists(folder.automations))) await writeFile(folder.automations, noAutomations, { mode: 0o600 });
  if (isNew || !(await exists(folder.demoReadToken))) await addToken(folder, 'read', folder.demoReadToken);
  if (isNew || !(await exists(folder.demoPingKey))) await addToken(folder, 'ping', folder.demoPingKey);
}

async function addToken(folder: DataFolder, scope: Scope, file: string): Promise<void> {
  const token = createToken(scope);
  const manifest = secretManifest({ organization: 'demo', scope, entries: tokenEntry(token) });
  await appendFile(folder.tokens, `---\n${manifest}`, { mode: 0o600 });
  await writeFile(file, `${token}\n`, { mode: 0o600 });
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
