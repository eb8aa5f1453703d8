const CONNACK = 0x20;
/** PUBLISH with the quality of service 0, with or without the flag of a retained message. */
const PUBLISH = [0x30, 0x31];
const SUBACK = 0x90;

/** First bytes of the packets that a broker sends to a client which only subscribes, with this quality. */
const EXPECTED: ReadonlySet<number> = new Set([CONNACK, ...PUBLISH, SUBACK]);

const LENGTH_MAX_BYTES = 4;

/**
 * Returns a listener for the data of a broker that throws at other packets. The library handles packets in
 * later turns of the event loop, and its errors about some of them would end the process.
 */
export function foreignPacketGuard(): (chunk: Buffer) => void {
  let isHeader = true;
  let lengthBytes = 0;
  let payloadLeft = 0;
  return (chunk) => {
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] ?? 0;
      if (isHeader) {
        if (!EXPECTED.has(byte)) throw new Error("the broker has sent another packet");
        isHeader = false;
        lengthBytes = 0;
        payloadLeft = 0;
      } else if (lengthBytes < LENGTH_MAX_BYTES) {
        // Seven bits of the length, the lowest first; the eighth bit says that more follow.
        payloadLeft += (byte & 0x7f) * 0x80 ** lengthBytes;
        lengthBytes = (byte & 0x80) === 0 ? LENGTH_MAX_BYTES : lengthBytes + 1;
        if (lengthBytes === LENGTH_MAX_BYTES) isHeader = payloadLeft === 0;
      } else {
        const skipped = Math.min(payloadLeft, chunk.length - at);
        payloadLeft -= skipped;
        at += skipped - 1;
        isHeader = payloadLeft === 0;
      }
    }
  };
}
