import { serve } from './koa-front.ts';
import { createStoreOne } from './store-one.ts';

/*
 * The naive design: each request stores its event and the outcome of its execution, and is answered
 * then.
 */
serve(createStoreOne());
