import { setFlagsFromString } from 'node:v8';
import { runService } from '../../internal/wiring/service.ts';
import { ingest } from './service.ts';

// Lets the heap grow to 2.5 times its live size before a full garbage collection. V8 also counts
// the bytes of bodies: large ones caused three to five collections a second, and each blocked the
// event loop for 5 to 40 ms.
setFlagsFromString('--heap-growing-percent=150');
runService(ingest);
