import { type HttpAnswer, Fault, readBody } from "../../../egress";
import { clean } from "../formats/clean";
import { blanked, withoutBeginning } from "./blanking";

/** Maximum size of a stored response, in bytes. */
export const ANSWER_BYTES_MAX = 20 * 1024;

const TEXTUAL = /^(text\/|application\/([^;]*[+])?(json|xml|javascript|x-www-form-urlencoded)\b)/i;
// Control characters that no text has: what claims to be text and holds them is shown to nobody.
// oxlint-disable-next-line no-control-regex
const BINARY = /[\u0000-\u0008\u000e-\u001a\u001c-\u001f]/;

/**
 * The first 20 KB of what was answered, where that is text; else null. What steers a terminal or turns
 * the direction of text around is left out, and `secrets` are blanked, for a receiver may send back what
 * it was sent.
 */
export async function answerText(
  answer: HttpAnswer,
  secrets: readonly string[],
): Promise<string | null> {
  const type = answer.headers.get("content-type");
  if (type !== undefined && !TEXTUAL.test(type)) return null;
  const body = await readBody(answer, ANSWER_BYTES_MAX);
  if (body instanceof Fault || body.bytes.length === 0) return null;
  // What was cut in the middle of a character ends in the sign for a broken one.
  const text = new TextDecoder().decode(body.bytes).replace(/\uFFFD$/, "");
  if (BINARY.test(text)) return null;
  const shown = blanked(clean(text), secrets);
  return body.isCut ? withoutBeginning(shown, secrets) : shown;
}
