import { mkdtemp, readFile, rm, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createDataFolder, type DataFolder } from '../../../cmd/standalone/data-folder.ts';
import { ensureDemoOrganization } from '../../../cmd/standalone/demo-organization.ts';
import { parseSecrets } from '../../../internal/cluster/tokens/manifest-file.ts';
import { tokenSetOf } from '../../../internal/cluster/tokens/token-set.ts';
import { authenticateIn } from '../../../internal/cluster/tokens/token-source.ts';

describe('the demo organization', () => {
  let parent: string;
  let folder: DataFolder;
  beforeEach(async () => {
    parent = await mkdtemp(join(tmpdir(), 'runledger-demo-'));
    folder = await createDataFolder(parent);
  });
  afterEach(() => rm(parent, { recursive: true }));

  /** What the token in a file may do, according to the manifests. */
  async function scopeOf(file: string): Promise<unknown> {
    const token = (await readFile(file, 'utf8')).trim();
    const manifests = parseSecrets(await readFile(folder.tokens, 'utf8'), folder.tokens);
    return authenticateIn(tokenSetOf(manifests, 'runledger.dev/organization'), token);
  }

  it('has a token for each scope, and keeps both', async () => {
    await ensureDemoOrganization(folder);
    const before = await readFile(folder.tokens, 'utf8');
    expect(await scopeOf(folder.demoToken)).to.include({ organization: 'demo', scope: 'write' });
    expect(await scopeOf(folder.demoReadToken)).to.include({ organization: 'demo', scope: 'read' });
    await ensureDemoOrganization(folder);
    expect(await readFile(folder.tokens, 'utf8')).to.equal(before);
  });

  it('gets a read token in the folder of a release that had none', async () => {
    await ensureDemoOrganization(folder);
    const [, write = ''] = (await readFile(folder.tokens, 'utf8')).split('---\n');
    await writeFile(folder.tokens, write);
    await unlink(folder.demoReadToken);
    await ensureDemoOrganization(folder);
    expect(await scopeOf(folder.demoToken)).to.include({ scope: 'write' });
    expect(await scopeOf(folder.demoReadToken)).to.include({ scope: 'read' });
  });
});
