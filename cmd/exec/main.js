import { existsSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';

// JavaScript: types of the first file would be stripped at each start, without the cache.
//
// Compiled code of earlier runs saves a part of each start. Never in the common folder for
// temporary files: another user could put code there.
const ofImage = join(import.meta.dirname, '.compile-cache');
try {
  const directory = existsSync(ofImage) ? ofImage : join(homedir(), '.cache', 'runledger-exec');
  enableCompileCache({ directory, portable: true });
} catch {
  // A user without a home compiles each time.
}
const { run } = await import('./run.ts');
await run(process.argv.slice(2));
