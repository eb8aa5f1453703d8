import { createBrotliDecompress, createGunzip, createInflate, constants as zlib } from "node:zlib";
import { Fault } from "./fault";
import type { HttpAnswer } from "./model";
import { MOST_BODY_BYTES } from "./request";

/** A body as it is meant: decompressed. */
export interface Body {
  bytes: Uint8Array;
  /** Whether it goes on beyond them. */
  isCut: boolean;
}

/**
 * Decompresses what was received of an answer's body, at most `most` bytes of it: more than that is
 * never made, however small what was sent.
 */
export async function readBody(
  answer: HttpAnswer,
  most: number = MOST_BODY_BYTES,
): Promise<Body | Fault> {
  const coding = (answer.headers.get("content-encoding") ?? "").trim().toLowerCase();
  if (coding === "" || coding === "identity" || answer.sentBody.length === 0) {
    const isCut = answer.isCut || answer.sentBody.length > most;
    return { bytes: answer.sentBody.subarray(0, most), isCut };
  }
  const decoder = decoderOf(coding);
  if (!decoder) return new Fault("protocol", "The body is compressed in a way that is not read.");
  return decompress(answer, decoder, most);
}

type Decoder = ReturnType<typeof createGunzip>;

/** What was cut off at its end is still decompressed as far as it goes. */
const AS_FAR_AS_IT_GOES = { finishFlush: zlib.Z_SYNC_FLUSH };

function decoderOf(coding: string): Decoder | undefined {
  switch (coding) {
    case "gzip":
    case "x-gzip":
      return createGunzip(AS_FAR_AS_IT_GOES);
    case "deflate":
      return createInflate(AS_FAR_AS_IT_GOES);
    case "br":
      return createBrotliDecompress({ finishFlush: zlib.BROTLI_OPERATION_FLUSH });
    default:
      return undefined;
  }
}

function decompress(answer: HttpAnswer, decoder: Decoder, most: number): Promise<Body | Fault> {
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
      if (length > most) settle({ bytes: Buffer.concat(chunks, most), isCut: true });
    });
    decoder.on("end", () => settle({ bytes: Buffer.concat(chunks, length), isCut: answer.isCut }));
    decoder.on("error", () =>
      settle(new Fault("protocol", "The body is not compressed as its header says.")),
    );
    decoder.end(answer.sentBody);
  });
}
