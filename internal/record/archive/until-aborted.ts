/**
 * The same pieces until the signal is aborted: then fails with its reason, even while the next
 * piece is still to come.
 */
export function untilAborted<T>(pieces: AsyncIterable<T>, signal: AbortSignal | undefined): AsyncIterable<T> {
  return signal === undefined ? pieces : endedBy(signal, pieces);
}

async function* endedBy<T>(signal: AbortSignal, pieces: AsyncIterable<T>): AsyncGenerator<T> {
  const iterator = pieces[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await orAborted(iterator.next(), signal);
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    const closed = iterator.return?.();
    // Closing waits for the next piece, which may never come.
    if (signal.aborted) closed?.catch(() => undefined);
    else await closed;
  }
}

async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const stop = (): void => reject(signal.reason);
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
