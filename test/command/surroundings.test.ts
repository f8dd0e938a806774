import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect } from 'chai';
import { environmentWith, outcomeOf, reported } from '../support/exec.ts';
import { SmallDisk } from '../support/fault/small-disk.ts';

/** Prints what a command can see of its surroundings, and ends with 3. */
const observe = `
  environment=$(tr '\\0' '\\n' < /proc/$$/environ | grep -av '^RUNLEDGER_\\|^_=' | sort | od -An -c)
  export PATH=/usr/bin:/bin
  printf '%s' "$environment"; printf '%s|' "$@" | od -An -c | tail -40
  ls /proc/self/fd; ulimit -a; umask; pwd; nice
  grep -E '^(Sig(Ign|Blk)|Cap|NoNewPrivs)' /proc/self/status; cat /proc/self/oom_score_adj
  for fd in 0 1 2; do test -t $fd && echo terminal; done
  echo out; echo err >&2; exit 3`;

interface Surroundings {
  /** A script of bash that makes them, and ends with `exec "$@"` for the command. */
  readonly setUp: string;
  /** Of `runledger` in place of the usual ones. */
  readonly settings?: NodeJS.ProcessEnv;
  /** In place of the one that observes. */
  readonly command?: readonly string[];
}

const sh = (script: string): string[] => ['/bin/sh', '-c', script, 'sh'];
const run = 'exec "$@"';
const limit = (...words: string[]): Surroundings => ({ setUp: `ulimit ${words.join(' ')}; ${run}` });
const mounted = (mount: string): string => `exec unshare --mount sh -c '${mount} && exec "$@"' sh "$@"`;
const asNobody = (setUp: string): string => `${setUp}exec unshare --user --map-user=54321 "$@"`;

/**
 * Each as people have met them; `$F` is the folder of the test, `$D` a full disk, `$M` one in
 * memory.
 */
const surroundings: Record<string, Surroundings> = {
  'the usual ones': { setUp: run },
  'no HOME': { setUp: `unset HOME; ${run}` },
  'no PATH': { setUp: `unset PATH; ${run}` },
  'an empty environment': {
    setUp: 'exec env -i RUNLEDGER_SPOOL="$F/spool" RUNLEDGER_URL=https://127.0.0.1:1 RUNLEDGER_TOKEN=x "$@"',
  },
  "cron's environment": {
    setUp: 'export HOME=/root LOGNAME=root SHELL=/bin/sh PATH=/usr/bin:/bin; unset LANG; exec "$@"',
  },
  'bytes in the arguments that are no UTF-8': { setUp: `exec "$@" $'caf\\xe9' $'\\xff\\xfe'` },
  'bytes in the environment that are no UTF-8': { setUp: `export BAD=$'caf\\xe9'; ${run}` },
  'variables for other runtimes': {
    setUp: `export NODE_OPTIONS='--require /none.js' GODEBUG=x GOGC=off GOMAXPROCS=x GOTRACEBACK=crash GOMEMLIMIT=1; ${run}`,
  },
  'a large environment': { setUp: `for n in {1..3000}; do export V$n=0123456789; done; ${run}` },
  'many arguments': { setUp: 'exec "$@" {1..5000}' },
  'one argument of 100 kB': { setUp: 'exec "$@" "$(head -c 100000 /dev/zero | tr "\\0" x)"' },
  'an empty argument, and one that looks like an option': { setUp: 'exec "$@" "" -- --help -x' },
  'a PATH with a folder that may not be searched': {
    setUp: asNobody('export PATH=$F/closed:/usr/bin:/bin; '),
    command: ['uname'],
  },
  'a program that only such a folder could have': {
    setUp: asNobody('export PATH=$F/closed:/usr/bin:/bin; '),
    command: ['env', 'nosuchprogram'],
  },
  'a PATH with a file and an empty entry': {
    setUp: 'cd "$F"; export PATH=/etc/passwd::/nowhere; exec env "$@"',
    command: ['here'],
  },
  'a script without an interpreter': { setUp: 'exec env "$@"', command: ['./here'] },
  'a program that is a folder': { setUp: `${run} 2>/dev/null`, command: ['/bin/sh', '-c', '/etc'] },
  'limit: 1 GB of addresses': limit('-v', '1000000'),
  'limit: 100 MB of addresses': limit('-v', '100000'),
  'limit: 100 MB of data': limit('-d', '100000'),
  'limit: 16 descriptors': limit('-n', '16'),
  'limit: 64 descriptors': limit('-n', '64'),
  'limit: files of 0 bytes': limit('-f', '0'),
  'limit: a stack of 256 kB': limit('-s', '256'),
  'limit: no core': limit('-c', '0'),
  'limit: 5 s of CPU': limit('-t', '5'),
  'limit: nothing locked': limit('-l', '0'),
  'limit: no pending signals': limit('-i', '0'),
  'limit: 1 process': { setUp: asNobody('ulimit -u 1; '), command: ['/bin/sh', '-c', 'echo out; exit 3'] },
  'standard input closed': { setUp: `${run} <&-` },
  'standard output closed': { setUp: `${run} >&-` },
  'standard error closed': { setUp: `${run} 2>&-` },
  'all three closed': { setUp: `${run} <&- >&- 2>&-` },
  'descriptors 3 to 9 open': { setUp: `${run} 3</etc/passwd 5>/dev/null 9>"$F/nine"` },
  'both outputs in one pipe': { setUp: `${run} 2>&1` },
  'both outputs in one file': { setUp: `"$@" >"$F/both" 2>&1; code=$?; cat "$F/both"; exit $code` },
  'standard output to a full device': { setUp: `${run} >/dev/full` },
  'standard error to a full device': { setUp: `${run} 2>/dev/full` },
  'a full disk': { setUp: run, settings: { RUNLEDGER_SPOOL: '$D' } },
  'a read-only root': { setUp: mounted('mount -o remount,bind,ro /'), settings: { RUNLEDGER_SPOOL: '$M' } },
  'a folder that is gone': { setUp: 'mkdir "$F/gone"; cd "$F/gone"; rmdir "$F/gone"; exec "$@"' },
  'a mask that closes all': { setUp: `umask 777; ${run}` },
  'a proxy that does not answer': {
    setUp: run,
    settings: { HTTPS_PROXY: 'http://127.0.0.1:1', RUNLEDGER_URL: 'https://x.example' },
  },
  'a DNS that hangs': {
    setUp: mounted('echo nameserver 192.0.2.1 > "$F/dns"; mount --bind "$F/dns" /etc/resolv.conf'),
    settings: { RUNLEDGER_URL: 'https://runledger.example' },
  },
  'a clock that is off by days': { setUp: 'exec faketime +3d "$@"', command: ['date', '+%F'] },
  nohup: { setUp: 'exec nohup "$@"' },
  setsid: { setUp: 'exec setsid --wait "$@"' },
  'timeout, which is sooner': { setUp: 'exec timeout 0.3 "$@"', command: ['sleep', '30'] },
  'timeout, which is later': { setUp: 'exec timeout 30 "$@"' },
  'timeout with SIGKILL': { setUp: 'exec timeout -s KILL 0.3 "$@"', command: ['sleep', '1'] },
  nice: { setUp: 'exec nice -n 7 "$@"' },
  'xargs -P': { setUp: 'seq 1 20 | xargs -P 4 -n 1 "$@" | sort', command: ['/bin/sh', '-c', 'echo "$0"'] },
  'SIGCHLD ignored': { setUp: `trap '' CHLD; ${run}` },
  'SIGPIPE and SIGINT ignored': { setUp: `trap '' PIPE INT; ${run}` },
  'signals blocked': {
    setUp: `exec python3 -c 'import os, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGTERM, signal.SIGCHLD])
os.execvp(sys.argv[1], sys.argv[1:])' "$@"`,
  },
  'no new privileges': { setUp: 'exec setpriv --no-new-privs "$@"' },
  'no capabilities': { setUp: 'exec setpriv --bounding-set -all --inh-caps -all "$@"' },
  'the first to be killed': { setUp: `echo 900 > /proc/self/oom_score_adj; ${run}` },
  'a command that stops itself, and is continued': {
    setUp: run,
    command: sh('(sleep 0.2; kill -CONT $$) & kill -STOP $$; echo continued; exit 3'),
  },
  'a command with 10,000 children': {
    setUp: run,
    command: sh('n=0; while [ $n -lt 10000 ]; do (:) & n=$((n+1)); done; wait; echo $n; exit 3'),
  },
  'a command that reads nothing of a full pipe': { setUp: 'yes | "$@"; exit ${PIPESTATUS[1]}', command: ['true'] },
};

describe('runledger exec in hostile surroundings', () => {
  let folder: string;
  let disk: SmallDisk | undefined;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'runledger-exec-'));
    await mkdir(join(folder, 'closed'));
    await writeFile(join(folder, 'closed/nosuchprogram'), '#!/bin/sh\necho found\n', { mode: 0o755 });
    await chmod(join(folder, 'closed'), 0);
    await writeFile(join(folder, 'here'), 'echo "here $0 $*"; exit 3\n', { mode: 0o755 });
    disk = await SmallDisk.mount(join(folder, 'disk'), undefined);
    await disk?.fill();
  });
  after(async () => {
    await disk?.unmount();
    for (const left of [folder, spoolOf('$M')]) await rm(left, { recursive: true, force: true });
  });

  const spoolOf = (given: string | undefined): string => {
    if (given === '$D') return join(folder, 'disk/spool');
    return join(given === '$M' ? '/dev/shm' : folder, basename(folder));
  };

  for (const [name, { setUp, settings = {}, command = [...sh(observe), 'one'] }] of Object.entries(surroundings)) {
    it(`changes nothing for a command: ${name}`, async () => {
      const env = environmentWith({
        F: folder,
        RUNLEDGER_URL: 'https://127.0.0.1:1',
        RUNLEDGER_TOKEN: 'none',
        RUNLEDGER_TIMEOUT_MS: '300',
        ...settings,
        RUNLEDGER_SPOOL: spoolOf(settings['RUNLEDGER_SPOOL']),
      });
      const within = (words: readonly string[]): Promise<unknown> =>
        outcomeOf(['bash', '-c', setUp, 'bash', ...words], env, { cwd: folder });
      const plain = await within(command);
      expect(await within(reported(command))).to.deep.equal(plain);
    });
  }
});
