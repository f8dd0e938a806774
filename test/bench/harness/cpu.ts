import { readFile } from 'node:fs/promises';

/** Of /proc/<pid>/stat: Linux counts CPU time for programs in hundredths of a second. */
const tickMs = 10;

/**
 * CPU time a process has used so far, with all its threads and the children it has waited for, in
 * ms.
 */
export async function cpuTime(pid: number): Promise<number> {
  return sumOfTimes(await readFile(`/proc/${pid}/stat`, 'utf8'));
}

/** The same for a process and all children it has now: Postgres and its backends. In ms. */
export async function cpuTimeOfFamily(pid: number): Promise<number> {
  const list = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  const children = list.split(' ').filter(Boolean).map(Number);
  // A child that ends meanwhile is counted by its parent the next time.
  const times = await Promise.all(children.map((child) => cpuTime(child).catch(() => 0)));
  return times.reduce((sum, time) => sum + time, await cpuTime(pid));
}

/** Memory of a process, in bytes: `VmRSS` is what it holds now, `VmHWM` the most it has held. */
export async function residentMemory(pid: number, which: 'VmRSS' | 'VmHWM'): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const [, kilobytes] = new RegExp(`^${which}:\\s+(\\d+) kB$`, 'm').exec(status) ?? [];
  return Number(kilobytes) * 1024;
}

/**
 * utime, stime, cutime and cstime are fields 14 to 17; the second one is a name that may hold
 * spaces.
 */
function sumOfTimes(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * tickMs, 0);
}
