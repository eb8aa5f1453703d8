import { createBrotliDecompress, createGunzip, createInflate, constants as zlib } from "node:zlib";
import type { Body } from "./body";
import { Fault } from "./fault";
import type { HttpAnswer } from "./model";

type Decoder = ReturnType<typeof createGunzip>;

/** Options for truncated input, which is decompressed as far as it goes. */
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

/** Decompresses what was received of a body, in the coding that its header names. */
export async function decompress(
  answer: HttpAnswer,
  coding: string,
  most: number,
): Promise<Body | Fault> {
  const decoder = decoderOf(coding);
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
      if (length > most) settle({ bytes: Buffer.concat(chunks, most), isCut: true });
    });
    decoder.on("end", () => settle({ bytes: Buffer.concat(chunks, length), isCut: answer.isCut }));
    decoder.on("error", () =>
      settle(new Fault("protocol", "The body is not compressed as its header says.")),
    );
    decoder.end(answer.sentBody);
  });
}
