/** An error for the person who started the demo. */
export class DemoError extends Error {
  override readonly name = 'DemoError';
}

/** Sends a request; the error says how to start Runledger when nothing listens. */
export async function reach(url: string, init?: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    const reason = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
    throw new DemoError(`${url} cannot be reached (${reason}): is \`make run\` running, on these ports?`);
  }
}
