import { setFlagsFromString } from 'node:v8';
import { runService } from '../../internal/wiring/service.ts';
import { ingest } from './service.ts';

// Lets the heap become 2.5 times what lives in it before all of it is collected. V8 counts the
// bytes of bodies, too: large ones made it do so three to five times a second, and each time the
// event loop stood still for 5 to 40 ms.
setFlagsFromString('--heap-growing-percent=150');
runService(ingest);
