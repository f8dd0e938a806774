import { execFileSync } from 'node:child_process';
import { repository } from './helm.ts';

/** Before all tests: the program `runledger` is built of the sources as they are. */
export function mochaGlobalSetup(): void {
  execFileSync('make', ['--no-print-directory', '--silent', 'command'], { cwd: repository, stdio: 'inherit' });
}
