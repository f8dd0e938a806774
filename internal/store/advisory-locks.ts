/**
 * The numbers of Runledger's advisory locks. Each lock ends with its transaction. A released number
 * never changes: it keeps processes of two releases apart.
 */
export const advisoryLocks = {
  /** One run of the migrations at a time. The number is the one that Kysely's migrator uses. */
  migration: 3_853_314_791_062_309_107n,
  /** One run of maintenance at a time. */
  maintenance: 7_215_004_112n,
  /** One process grants rights at a time: concurrent grants on one table fail. */
  readerRole: 7_215_004_113n,
  /** One tick of the controllers at a time. */
  tick: 7_215_004_114n,
  /** One process creates the index of a partitioned table itself at a time. */
  parentIndex: 7_215_004_115n,
  /** One process builds indexes at a time. */
  indexBuild: 7_215_004_116n,
  /** One controller records Jobs at a time. */
  capture: 7_215_004_117n,
  /** One worker extends and signs the logs at a time. */
  seal: 7_215_004_122n,
  /** One change of the console's declarations at a time: the first of two numbers. */
  consoleAutomations: 7_215_123,
  /** One process compacts executions at a time. */
  compaction: 7_215_004_123n,
  /** One move of an organization at a time. */
  move: 7_215_004_121n,
};
