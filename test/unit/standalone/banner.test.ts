import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { banner } from '../../../cmd/standalone/banner.ts';
import { createDataFolder } from '../../../cmd/standalone/data-folder.ts';

const addresses = {
  api: 'https://localhost:1',
  plainHttp: 'http://localhost:2',
  console: 'https://localhost:4',
  login: 'https://localhost:4/once/secret',
  ops: 'http://localhost:3',
};

describe('the banner', () => {
  it("names files as a shell takes them, whatever the folder's name", async () => {
    const parent = await mkdtemp(join(tmpdir(), 'runledger-banner-'));
    try {
      const folder = await createDataFolder(join(parent, "it's mine"));
      await writeFile(folder.demoToken, 'a-token');
      const text = banner(folder, addresses);
      const curl = text.slice(text.indexOf('curl -w'), text.indexOf('\n\n  Read it:'));
      // A shell parses the command; in place of curl it prints the arguments it was given.
      const given = execFileSync('sh', ['-c', curl.replace('curl', "printf '%s\\n'")])
        .toString()
        .split('\n');
      expect(given).to.include(folder.certificate).and.to.include('token: a-token');
    } finally {
      await rm(parent, { recursive: true });
    }
  });
});
