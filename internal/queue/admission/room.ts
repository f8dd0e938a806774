import { ByteBudget, type Release } from '../../kit/async/byte-budget.ts';

/** Most bytes of the events of one job; a larger job is set aside. */
const largestJob = 128 * 1_024 * 1_024;

/**
 * The memory of a lane for the events of its jobs. Each lane of a process has its own room, so
 * events that wait for one database leave room for those of another. A job larger than the room
 * gets all of it, while no other lane holds such a job.
 */
export class Room {
  readonly #budget: ByteBudget;
  readonly #large: ByteBudget;

  /** @param large the turn of large jobs, which the lanes of a process share. */
  constructor(bytes: number, large: ByteBudget) {
    this.#budget = new ByteBudget(bytes);
    this.#large = large;
  }

  /** False for a job that would take too much even alone. */
  holds(bytes: number): boolean {
    return bytes <= largestJob;
  }

  /** Resolves with the release once there is room, or with undefined when aborted earlier. */
  async take(bytes: number, signal: AbortSignal): Promise<Release | undefined> {
    if (bytes <= this.#budget.bytes) return this.#budget.hold(bytes, signal);
    const turn = await this.#large.hold(1, signal);
    const release = turn && (await this.#budget.hold(bytes, signal));
    if (release === undefined) turn?.();
    return release && (() => [release, turn].forEach((each) => each?.()));
  }

  /** As `take`, for a job that must have the lane to itself. */
  takeAll(signal: AbortSignal): Promise<Release | undefined> {
    return this.take(Infinity, signal);
  }
}

/** The turn of large jobs in a process. */
export function largeTurn(): ByteBudget {
  return new ByteBudget(1);
}
