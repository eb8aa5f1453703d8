const HEADER_BYTES = 9;
const DATA = 0;
const HEADERS = 1;
const PUSH_PROMISE = 5;
/** Frames that are read, more than 4 MiB in pieces of a kilobyte need. Each costs the runtime some time. */
const FRAMES_MAX = 16 * 1024;
/** Flag of the last frame of a stream. */
const END_STREAM = 1;
/** Number of the only stream of a client that sends one request. */
const OWN_STREAM = 1;

/**
 * Returns a listener for the data of an HTTP/2 server that throws at a frame of a stream which the server
 * has begun. The runtime reports errors of such a stream to no listener, so that they would end the process.
 * It also throws after `FRAMES_MAX` frames. `onEnd` is called once the last frame of the own stream is complete; the
 * runtime reports it as it does a lost connection.
 */
export function foreignStreamGuard(onEnd?: () => void): (chunk: Buffer) => void {
  const header = Buffer.alloc(HEADER_BYTES);
  let filled = 0;
  let payloadLeft = 0;
  let frames = 0;
  let isLast = false;
  return (chunk) => {
    for (let at = 0; at < chunk.length;) {
      const skipped = Math.min(payloadLeft, chunk.length - at);
      const copied = chunk.copy(header, filled, at + skipped);
      payloadLeft -= skipped;
      filled += copied;
      at += skipped + copied;
      if (filled === HEADER_BYTES) {
        filled = 0;
        frames += 1;
        if (frames > FRAMES_MAX) throw new Error("the server sends too many frames");
        payloadLeft = header.readUIntBE(0, 3);
        const stream = header.readUInt32BE(5) & 0x7f_ff_ff_ff;
        if (stream > OWN_STREAM || header[3] === PUSH_PROMISE) {
          throw new Error("the server has begun a stream");
        }
        const [, , , type = 0, flags = 0] = header;
        const canEnd = stream === OWN_STREAM && (type === DATA || type === HEADERS);
        isLast ||= canEnd && (flags & END_STREAM) !== 0;
      }
      if (!isLast || payloadLeft > 0) continue;
      isLast = false;
      onEnd?.();
    }
  };
}
