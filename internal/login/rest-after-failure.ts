/**
 * Asks at most once per `restMs` while the answer is an error; in between, callers get the last
 * error at once. So callers cannot flood a provider that is in trouble.
 */
export function restAfterFailure<Question extends unknown[], Answer>(
  restMs: number,
  ask: (...question: Question) => Promise<Answer>,
  now: () => number = () => performance.now(),
): (...question: Question) => Promise<Answer> {
  let failure: { error: unknown; until: number } | undefined;
  return async (...question) => {
    if (failure !== undefined && now() < failure.until) throw failure.error;
    try {
      const answer = await ask(...question);
      failure = undefined;
      return answer;
    } catch (error) {
      failure = { error, until: now() + restMs };
      throw error;
    }
  };
}
