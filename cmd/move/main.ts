import { runMain } from '../../internal/kit/lifecycle/main.ts';
import { run } from './run.ts';

runMain(async () => {
  process.exitCode = await run(process.argv.slice(2));
});
