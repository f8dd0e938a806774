import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  type Sampler,
} from '@opentelemetry/sdk-trace';
import type { TraceSettings } from './tracing.ts';

/** The sampler named in `OTEL_TRACES_SAMPLER`, with the share from `OTEL_TRACES_SAMPLER_ARG`. */
export function samplerOf(name: TraceSettings['OTEL_TRACES_SAMPLER'], share: number): Sampler {
  if (name.startsWith('parentbased_')) {
    return new ParentBasedSampler({ root: rootSampler(name.slice('parentbased_'.length), share) });
  }
  return rootSampler(name, share);
}

function rootSampler(name: string, share: number): Sampler {
  if (name === 'always_on') return new AlwaysOnSampler();
  if (name === 'always_off') return new AlwaysOffSampler();
  return new TraceIdRatioBasedSampler(share);
}
