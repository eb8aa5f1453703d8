import type { Fault } from "./fault";
import { type HttpAnswer, MOST_BODY_BYTES } from "./model";

/** A body as it is meant: decompressed. */
export interface Body {
  bytes: Uint8Array;
  /** True if the body is longer. */
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
  // Loaded for the few that compress though they are not asked to.
  const { decompress } = await import("./decompress");
  return decompress(answer, coding, most);
}
