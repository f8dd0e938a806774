/**
 * How much a run measures. Read from the environment; `QUICK=1` tries everything out in little
 * time.
 */
export interface Options {
  quick: boolean;
  /** Rounds of each comparison; medians are taken over them. */
  rounds: number;
  /** Length of one load, in whole seconds. */
  seconds: number;
  /**
   * Events that Runledger's worker and COPY drain in one round, and jobs that the other worker
   * does.
   */
  drainEvents: number;
  drainJobs: number;
  burstEvents: number;
  /** Events that are stored before the drains of `growth`. */
  growthEvents: number;
  /** Events that are stored before the requests of `read`, and those that a drain stores. */
  readEvents: number;
  readDrainEvents: number;
  /** Requests of each kind that `read` measures at least, in drains. */
  readSamples: number;
  /** Length of the load of `streams`, in whole seconds. */
  streamSeconds: number;
  /** Events that `export` exports. */
  exportEvents: number;
  /** Events of the day that `keep` and `cold` make cold. */
  coldEvents: number;
  /** Events that `seal` stores, seals and verifies. */
  sealEvents: number;
}

/** @throws when a number is none. */
export function readOptions(): Options {
  const quick = process.env['QUICK'] === '1';
  const number = (name: string, usual: number, small: number): number => {
    const value = Number(process.env[name] ?? (quick ? small : usual));
    if (!Number.isInteger(value) || value < 1) throw new Error(`${name} must be a whole number above 0`);
    return value;
  };
  return {
    quick,
    rounds: number('ROUNDS', 5, 1),
    seconds: number('SECONDS', 5, 2),
    drainEvents: number('DRAIN_EVENTS', 200_000, 20_000),
    drainJobs: number('DRAIN_JOBS', 20_000, 3_000),
    burstEvents: number('BURST_EVENTS', 1_000_000, 50_000),
    growthEvents: number('GROWTH_EVENTS', 20_000_000, 200_000),
    readEvents: number('READ_EVENTS', 20_000_000, 200_000),
    readDrainEvents: number('READ_DRAIN_EVENTS', 4_000_000, 100_000),
    readSamples: number('READ_SAMPLES', 400, 2),
    streamSeconds: number('STREAM_SECONDS', 600, 15),
    exportEvents: number('EXPORT_EVENTS', 10_000_000, 200_000),
    coldEvents: number('COLD_EVENTS', 2_000_000, 100_000),
    sealEvents: number('SEAL_EVENTS', 20_000_000, 200_000),
  };
}
