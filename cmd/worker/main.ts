import { constants, getPriority, setPriority } from 'node:os';
import { runService } from '../../internal/wiring/service.ts';
import { worker } from './service.ts';

/** A lower priority: callers and readers wait for ingest and console, nobody waits for a worker. */
const behind = 5;

setPriority(Math.min(getPriority() + behind, constants.priority.PRIORITY_LOW));
runService(worker);
