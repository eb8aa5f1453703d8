/**
 * Creates a body that arrives in pieces without a declared length, and a function that returns true if it
 * was read.
 */
export function streamOf(...pieces: string[]): { stream: ReadableStream; wasRead(): boolean } {
  const rest = pieces.map((piece) => new TextEncoder().encode(piece));
  let reads = 0;
  const stream = new ReadableStream(
    {
      pull(controller) {
        reads += 1;
        const piece = rest.shift();
        if (piece) controller.enqueue(piece);
        else controller.close();
      },
    },
    // Nothing is pulled before the body is read.
    { highWaterMark: 0 },
  );
  return { stream, wasRead: () => reads > 0 };
}
