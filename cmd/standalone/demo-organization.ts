import { access, writeFile } from 'node:fs/promises';
import { createToken, secretManifest, tokenEntry } from '../../internal/tokens/manifest.ts';
import type { DataFolder } from './data-folder.ts';

/** Makes the organization `demo` and its token once. The owner may change the manifest. */
export async function ensureDemoOrganization(folder: DataFolder): Promise<void> {
  const present = await access(folder.tokens).then(
    () => true,
    () => false,
  );
  if (present) return;
  const token = createToken();
  await writeFile(folder.demoToken, `${token}\n`, { mode: 0o600 });
  const manifest = secretManifest({ organization: 'demo', entries: tokenEntry({ token }, 1) });
  await writeFile(folder.tokens, manifest, { mode: 0o600 });
}
