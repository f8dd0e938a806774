import { writeFile } from 'node:fs/promises';
import { PostgresServer } from './postgres-server.ts';
import { dumpSchema, schemaFile } from './schema.ts';

/** Rewrites internal/store/schema.sql: `make schema`, after a migration has been added. */
const postgres = await PostgresServer.start();
try {
  await writeFile(schemaFile, await dumpSchema(await postgres.createDatabase()));
} finally {
  await postgres.stop();
}
