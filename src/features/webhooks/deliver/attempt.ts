import type { AppContext } from "../../../context";
import { type Egress, Fault, type HttpAnswer, readBody } from "../../../egress";
import type { RecordedEvent } from "../../../events";
import type { WebhookFormat } from "../../../domain/webhook";
import { charsetOf, decodeText, UNREAD_CHARSET } from "../../../kernel/charset";
import { parseJson } from "../../../kernel/text";
import { SECOND_MS } from "../../../kernel/time";
import { attemptOnce } from "../../outgoing";
import { findForTry } from "../delivery-store";
import { FORMATS } from "../formats";
import type { Message } from "../formats/format";
import { canRetry, refusalOf } from "../rules";
import { secretsInForce, signatureHeaders } from "../secrets";
import { createMailAttempt } from "../alerts/attempt";
import { clean } from "../formats/clean";
import { secretsIn, blanked, withoutBeginning } from "./blanking";
import type { NoTry, TryResult } from "./try-result";
import { type Outgoing, type ReadHeadline, writeMessage } from "./message";

/** Maximum size of a stored response, in bytes. */
const ANSWER_BYTES_MAX = 20 * 1024;

const TEXTUAL = /^(text\/|application\/([^;]*[+])?(json|xml|javascript|x-www-form-urlencoded)\b)/i;
// Control characters that text does not contain: such bodies are not shown.
// oxlint-disable-next-line no-control-regex
const BINARY = /[\u0000-\u0008\u000e-\u001a\u001c-\u001f]/;

/**
 * Returns the first 20 KB of a text response; null for others. Control characters and direction
 * overrides are removed. `secrets` are blanked, since a receiver may send back what it was sent.
 */
async function answerText(answer: HttpAnswer, secrets: readonly string[]): Promise<string | null> {
  const type = answer.headers.get("content-type");
  if (type !== undefined && !TEXTUAL.test(type)) return null;
  const body = await readBody(answer, ANSWER_BYTES_MAX);
  if (body instanceof Fault || body.bytes.length === 0) return null;
  const charset = charsetOf(body.bytes, type ?? "");
  if (charset === UNREAD_CHARSET) return null;
  const text = decodeText(body.bytes, charset, body.isTruncated);
  if (BINARY.test(text)) return null;
  const shown = blanked(clean(text), secrets);
  return body.isTruncated ? withoutBeginning(shown, secrets) : shown;
}

/** Limit for resolving, connecting, sending and reading the response together. */
const TRY_TIMEOUT_MS = 15 * SECOND_MS;

/**
 * Attempts a delivery once, with its current data in the database. Never throws. Ends at once when
 * `signal` aborts.
 */
type Attempt = (deliveryId: string, signal: AbortSignal) => Promise<TryResult | NoTry>;

/**
 * Creates the function that attempts deliveries. Loaded with the first delivery, since it loads all
 * code of outgoing requests.
 */
export function createAttempt(
  ctx: Pick<AppContext, "attempts" | "baseUrl" | "clock" | "db" | "log" | "signals" | "waitToSend">,
  egress: Egress,
  readHeadline?: ReadHeadline,
): Attempt {
  const { clock } = ctx;
  const attemptByMail = createMailAttempt(ctx);

  return async (deliveryId, stopping) => {
    if (ctx.waitToSend && !(await ctx.waitToSend(deliveryId))) return "local_fault";
    const row = findForTry(ctx.db, { id: deliveryId });
    if (!row || row.delivery.status !== "pending") return "ended";
    const { webhook } = row;
    if (!webhook.enabled || webhook.deletedAt !== null) return "ended";
    const outgoing: Outgoing = {
      event: row.event as RecordedEvent,
      webhook,
      page: row.page,
    };
    if (webhook.format === "email")
      return attemptByMail({ ...outgoing, delivery: row.delivery, webhook });
    const at = clock.now();
    const startedAt = clock.monotonic();
    const failed = (error: string): TryResult => ({
      at,
      latencyMs: Math.round(clock.monotonic() - startedAt),
      statusCode: null,
      error,
      answer: null,
    });

    let message: Message | undefined;
    let url: URL;
    let signature: Record<string, string>;
    try {
      message = writeMessage(ctx, outgoing, readHeadline);
      if (!message) return "no_message";
      url = new URL(message.url ?? webhook.url);
      const secrets = secretsInForce(webhook, at);
      signature = signatureHeaders({ id: row.event.id, at, body: message.body, secrets });
    } catch (error) {
      ctx.log.error({ err: error, delivery: deliveryId }, "a webhook message could not be written");
      return failed("The message could not be written.");
    }

    const { body, headers } = message;
    const send = async (): Promise<TryResult | NoTry> => {
      const deadline = new AbortController();
      const abort = () => deadline.abort();
      const timer = clock.after(TRY_TIMEOUT_MS, abort);
      stopping.addEventListener("abort", abort);
      if (stopping.aborted) abort();
      try {
        const answer = await egress.request({
          url,
          method: "POST",
          headers: { ...headers, ...signature },
          body,
          maxBodyBytes: ANSWER_BYTES_MAX,
          policy: "webhook",
          proxy: "outbound",
          signal: deadline.signal,
        });
        if (answer instanceof Fault) {
          return answer.kind === "local" ? "local_fault" : failed(answer.message);
        }
        const text = await answerText(answer, secretsIn(webhook));
        const refused = refusalOf({
          statusCode: answer.status,
          retryAfter: answer.headers.get("retry-after"),
          date: answer.headers.get("date"),
          bodySeconds: bodySeconds(webhook.format, text),
          at: clock.now(),
        });
        return {
          at,
          latencyMs: Math.round(clock.monotonic() - startedAt),
          statusCode: answer.status,
          error: null,
          answer: text,
          ...(refused && { refused: { ...refused, isFinal: !canRetry(row.event.type) } }),
        };
      } finally {
        timer.cancel();
        stopping.removeEventListener("abort", abort);
      }
    };
    const name = { id: deliveryId, attempt: row.delivery.tries + 1 };
    // An aborted attempt and a refusal do not count. A response is too large to be noted.
    return attemptOnce(ctx, name, send, (result) =>
      stopping.aborted || typeof result === "string" || result.refused
        ? undefined
        : { ...result, answer: null },
    );
  };
}

/** Returns the field of a JSON response in which the service of a format names the seconds of a pause. */
function bodySeconds(format: WebhookFormat, text: string | null): unknown {
  const { pauseField } = FORMATS[format];
  if (!pauseField || text === null) return undefined;
  return pauseField.reduce<unknown>(
    (value, name) =>
      typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined,
    parseJson(text),
  );
}
