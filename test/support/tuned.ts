import { tuning } from '../../internal/config/tuning.ts';

/** An environment in which `TUNING` holds the constants that have names of their own here. */
export function tuned(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const [constants, others] = [true, false].map((wanted) =>
    Object.entries(environment).filter(([name]) => name in tuning === wanted),
  );
  const parts = (constants ?? []).map(([name, value]) => `${name}=${value}`);
  const { TUNING: before = '' } = environment;
  return { ...Object.fromEntries(others ?? []), TUNING: [before, ...parts].join(' ').trim() };
}
