import { Fault } from "./fault";
import { type HttpAnswer, DEFAULT_BODY_MAX_BYTES } from "./model";

/** A decompressed body. */
interface Body {
  bytes: Uint8Array;
  /** True if the body is longer. */
  isTruncated: boolean;
}

/** Decompresses the received part of a body, up to `maxBytes` bytes of the result. */
export async function readBody(
  answer: HttpAnswer,
  maxBytes: number = DEFAULT_BODY_MAX_BYTES,
): Promise<Body | Fault> {
  const coding = (answer.headers.get("content-encoding") ?? "").trim().toLowerCase();
  if (coding === "" || coding === "identity" || answer.sentBody.length === 0) {
    const isTruncated = answer.isTruncated || answer.sentBody.length > maxBytes;
    return { bytes: answer.sentBody.subarray(0, maxBytes), isTruncated };
  }
  const decoder = await createDecoder(coding);
  if (!decoder) return new Fault("protocol", "The body is compressed in a way that is not read.");
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const settle = (outcome: Body | Fault) => {
      decoder.destroy();
      resolve(outcome);
    };
    decoder.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      length += chunk.length;
      if (length > maxBytes) settle({ bytes: Buffer.concat(chunks, maxBytes), isTruncated: true });
    });
    decoder.on("end", () =>
      settle({ bytes: Buffer.concat(chunks, length), isTruncated: answer.isTruncated }),
    );
    decoder.on("error", () =>
      settle(new Fault("protocol", "The body is not compressed as its header says.")),
    );
    decoder.end(answer.sentBody);
  });
}

/** Creates a decoder that decompresses truncated input as far as possible. */
async function createDecoder(coding: string) {
  // Loaded at the first use: requests do not ask for compression, and most servers send none.
  const { constants, createBrotliDecompress, createGunzip, createInflate } =
    await import("node:zlib");
  const options = { finishFlush: constants.Z_SYNC_FLUSH };
  switch (coding) {
    case "gzip":
    case "x-gzip":
      return createGunzip(options);
    case "deflate":
      return createInflate(options);
    case "br":
      return createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH });
    default:
      return undefined;
  }
}
