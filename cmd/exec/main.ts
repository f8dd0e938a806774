import { enableCompileCache } from 'node:module';

// Compiled code of earlier runs saves a part of each start.
enableCompileCache();
const { run } = await import('./run.ts');
await run(process.argv.slice(2));
