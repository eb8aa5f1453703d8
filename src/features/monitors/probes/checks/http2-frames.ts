const HEADER_BYTES = 9;
const PUSH_PROMISE = 5;
/** Number of the only stream of a client that sends one request. */
const OWN_STREAM = 1;

/**
 * Returns a listener for the data of an HTTP/2 server that throws at a frame of a stream which the server
 * has begun. The runtime reports errors of such a stream to no listener, so that they would end the process.
 */
export function foreignStreamGuard(): (chunk: Buffer) => void {
  const header = Buffer.alloc(HEADER_BYTES);
  let filled = 0;
  let payloadLeft = 0;
  return (chunk) => {
    for (let at = 0; at < chunk.length;) {
      const skipped = Math.min(payloadLeft, chunk.length - at);
      const copied = chunk.copy(header, filled, at + skipped);
      payloadLeft -= skipped;
      filled += copied;
      at += skipped + copied;
      if (filled < HEADER_BYTES) continue;
      filled = 0;
      payloadLeft = header.readUIntBE(0, 3);
      const stream = header.readUInt32BE(5) & 0x7f_ff_ff_ff;
      if (stream > OWN_STREAM || header[3] === PUSH_PROMISE) {
        throw new Error("the server has begun a stream");
      }
    }
  };
}
