import { serve } from './koa-front.ts';

/*
 * The libraries that Runledger's API is made of, and nothing else: Koa, its router and its body
 * parser answer as if the event had been recorded. What the API costs before anything of
 * Runledger's own.
 */
serve(() => Promise.resolve());
