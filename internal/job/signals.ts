import { readFileSync } from 'node:fs';
import { isatty } from 'node:tty';

/** Signals that this process passes on to the command. */
const passedOn = ['SIGHUP', 'SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGALRM', 'SIGCONT'] as const;

/** Signals that the terminal sends to the whole process group, and so to the command too. */
const ofTerminal: ReadonlySet<NodeJS.Signals> = new Set(['SIGINT', 'SIGQUIT', 'SIGTSTP']);

/**
 * Passes signals on to the command, each once: those that the terminal has sent to the command
 * itself are left out. A SIGTSTP stops this process too. Call the result to pass on no more.
 */
export function passSignalsOn(send: (signal: NodeJS.Signals) => void): () => void {
  const pass = (signal: NodeJS.Signals): void => {
    if (!(ofTerminal.has(signal) && isInForeground())) send(signal);
  };
  const suspend = (): void => {
    pass('SIGTSTP');
    process.off('SIGTSTP', suspend);
    process.kill(process.pid, 'SIGTSTP');
    process.on('SIGTSTP', suspend);
  };
  for (const signal of passedOn) process.on(signal, pass);
  process.on('SIGTSTP', suspend);
  return () => {
    for (const signal of passedOn) process.off(signal, pass);
    process.off('SIGTSTP', suspend);
  };
}

/** True when this process group is the one that the keys of a terminal send signals to. */
function isInForeground(): boolean {
  try {
    const stat = readFileSync('/proc/self/stat', 'latin1');
    // proc(5): after the name in parentheses come state, ppid, pgrp, session, tty_nr and tpgid.
    const [, , group, , terminal, foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return terminal !== '0' && group === foreground;
  } catch {
    return [0, 1, 2].some((fd) => isatty(fd));
  }
}
