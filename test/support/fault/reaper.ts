import { execFileSync, type ChildProcess } from 'node:child_process';

const children = new Set<ChildProcess>();
const mounts = new Set<string>();

/** Ends the child, frozen or not, when this process ends for whatever reason it can notice. */
export function reapAtExit(child: ChildProcess): void {
  children.add(child);
  child.once('exit', () => children.delete(child));
}

/** Unmounts the folder when this process ends before {@link forgetMount}. */
export function unmountAtExit(folder: string): void {
  mounts.add(folder);
}

export function forgetMount(folder: string): void {
  mounts.delete(folder);
}

process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  for (const folder of mounts) execFileSync('umount', ['-l', folder], { stdio: 'ignore' });
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => process.exit(130));
}
