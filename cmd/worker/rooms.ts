import { largeTurn, Room } from '../../internal/queue/admission/room.ts';

const mebi = 1_024 * 1_024;

/**
 * Memory for the events of jobs, in bytes: in the common queue, in the overflow lane, and in all
 * queues of events set aside. A worker of 512 MiB has 259 MiB for all V8 objects; a statement takes
 * a few times the bytes of its events.
 */
const [commonBytes, overflowBytes, asideBytes] = [48 * mebi, 8 * mebi, 16 * mebi];

/** The rooms of a worker's lanes. */
export interface Rooms {
  common: Room;
  overflow: Room;
  /** The room of one among this many queues of events set aside. */
  aside: (queues: number) => Room;
}

/** Divides the memory of a worker. */
export function createRooms(): Rooms {
  const large = largeTurn();
  return {
    common: new Room(commonBytes, large),
    overflow: new Room(overflowBytes, large),
    aside: (queues) => new Room(Math.floor(asideBytes / queues), large),
  };
}
