import { describeError } from '../../../internal/kit/telemetry/logger.ts';
import { findBinaries } from './binaries.ts';

/** Builds the control plane, if this machine has none, before each process of a run starts one. */
try {
  await findBinaries();
} catch (error) {
  console.error(describeError(error).message);
  process.exit(1);
}
