import { largeTurn, Room } from '../../internal/queue/admission/room.ts';

const mebi = 1_024 * 1_024;

/**
 * Memory for the events of jobs, in bytes: of the common queue, of the overflow lane, and of all
 * queues of events that were set aside. A worker of 512 MiB has 259 MiB for all objects (V8); a
 * statement takes a few times the bytes of its events.
 */
const [commonBytes, overflowBytes, asideBytes] = [48 * mebi, 8 * mebi, 16 * mebi];

/** The rooms of the lanes of a worker. */
export interface Rooms {
  common: Room;
  overflow: Room;
  /** One of so many queues of events that were set aside. */
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
