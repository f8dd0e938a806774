/**
 * Runledger's own numbers of advisory locks; each lock ends with its transaction. A released number
 * never changes: processes of two releases exclude each other by it.
 */
export const advisoryLocks = {
  /** One run of the migrations at a time. The number is that of Kysely's own lock. */
  migration: 3_853_314_791_062_309_107n,
  /** One run of maintenance at a time. */
  maintenance: 7_215_004_112n,
  /** Concurrent grants on one table fail. */
  readerRole: 7_215_004_113n,
  /** One tick of the controllers at a time. */
  tick: 7_215_004_114n,
  /** Creates the index of a partitioned table itself. */
  parentIndex: 7_215_004_115n,
  /** One process builds indexes at a time. */
  indexBuild: 7_215_004_116n,
  /** One controller records Jobs at a time. */
  capture: 7_215_004_117n,
  /** One worker extends and signs the logs at a time. */
  seal: 7_215_004_122n,
  /** One move of an organization at a time. */
  move: 7_215_004_121n,
};
