import { charsetOf, decodeText, UNREAD_CHARSET } from "../../../base/charset";
import { parseJson } from "../../../base/text";
import { SECOND_MS } from "../../../base/time";
import type { WebhookFormat } from "../../../base/webhook";
import type { Ctx } from "../../../context";
import type { Tx } from "../../../db/statements";
import { readBody } from "../../../egress/body";
import type { Egress } from "../../../egress/egress";
import { Fault, type HttpAnswer } from "../../../egress/model";
import { attemptOnce, tryWrite } from "../../sending/loop";
import { createMailAttempt } from "../alerts/alerts";
import { type DeliveryRow, findForTry } from "../delivery-store";
import type { Message } from "../formats/format";
import { FORMATS } from "../formats/index";
import { clean } from "../formats/markup";
import { closeGroup, type Member, membersOf, needsGroup, overtakenAmong } from "./groups";
import { supersedeDeliveries } from "../gathering-store";
import { canRetry, groupOf, refusalOf } from "../rules";
import { secretsInForce, signatureHeaders } from "../signing";
import type { WebhookRow } from "../store";
import {
  blanked,
  type NoTry,
  type Outgoing,
  outgoingOf,
  type ReadHeadline,
  secretsIn,
  type TryResult,
  withoutBeginning,
  writeMessage,
} from "./message";

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

/** Deliveries of one message, oldest first, and the parts of the message. */
interface Prepared {
  /** The oldest one. */
  delivery: DeliveryRow;
  members: readonly Member[];
  webhook: WebhookRow;
  outgoing: Outgoing;
}

/**
 * Creates the function that attempts deliveries. Loaded with the first delivery, since it loads all
 * code of outgoing requests.
 */
export function createAttempt(ctx: Ctx, egress: Egress, readHeadline?: ReadHeadline): Attempt {
  const { clock } = ctx;
  const attemptByMail = createMailAttempt(ctx);
  const writeGroup = <T>(change: (tx: Tx) => T) =>
    tryWrite(ctx, change, "a group of deliveries could not be stored");

  /** Reads a delivery that can be sent. */
  function readSendable(id: string): ReturnType<typeof findForTry> {
    const row = findForTry(ctx.db, { id });
    if (row?.delivery.status !== "pending") return undefined;
    return row.webhook.enabled && row.webhook.deletedAt === null ? row : undefined;
  }

  /** Puts a delivery into a group if it waits for one. Returns the id of what is sent: the group, or the delivery. */
  async function settleGroup(deliveryId: string): Promise<string | NoTry> {
    const row = readSendable(deliveryId);
    if (!row) return "ended";
    const { delivery, webhook } = row;
    if (!needsGroup(delivery, webhook)) return groupOf(delivery) ?? deliveryId;
    const isClosed = await writeGroup((tx) => {
      closeGroup(ctx, tx, webhook);
      return true;
    });
    if (isClosed !== true) return "local_fault";
    const settled = readSendable(deliveryId);
    return settled ? (groupOf(settled.delivery) ?? deliveryId) : "ended";
  }

  /**
   * Reads what is sent with a delivery: the deliveries of its group, oldest first, or the delivery alone. Ends deliveries
   * that newer ones have overtaken.
   */
  async function prepare(deliveryId: string): Promise<Prepared | NoTry> {
    const row = readSendable(deliveryId);
    if (!row) return "ended";
    const members = membersOf(ctx.db, row);
    const overtaken = new Set(overtakenAmong(ctx.db, members, row.webhook));
    if (overtaken.size > 0) {
      const supersede = (tx: Tx) => supersedeDeliveries(tx, [...overtaken], { now: clock.now() });
      if ((await writeGroup(supersede)) === undefined) return "local_fault";
    }
    const [first, ...others] = members.filter(({ delivery }) => !overtaken.has(delivery.id));
    // The next one of its group stands for the others then.
    if (!first || overtaken.has(deliveryId)) return "ended";
    const { delivery } = first;
    const outgoing = outgoingOf(ctx.db, row, [first, ...others]);
    return { delivery, webhook: row.webhook, outgoing, members: [first, ...others] };
  }

  return async (deliveryId, stopping) => {
    const id = await settleGroup(deliveryId);
    if (id === "ended" || id === "local_fault") return id;
    if (ctx.waitToSend && !(await ctx.waitToSend(id))) return "local_fault";
    const prepared = await prepare(deliveryId);
    if (typeof prepared === "string") return prepared;
    const result = await attempt(prepared, stopping);
    if (typeof result === "string") return result;
    return { ...result, members: prepared.members.map(({ delivery }) => delivery.id) };
  };

  async function attempt(
    { delivery, webhook, outgoing }: Prepared,
    stopping: AbortSignal,
  ): Promise<TryResult | NoTry> {
    const groupId = groupOf(delivery);
    if (webhook.format === "email") return attemptByMail({ ...outgoing, delivery, webhook });
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
      signature = signatureHeaders({
        id: outgoing.messageId,
        at,
        body: message.body,
        secrets,
      });
    } catch (error) {
      ctx.log.error(
        { err: error, delivery: delivery.id },
        "a webhook message could not be written",
      );
      return failed("The message could not be written.");
    }

    const { method = "POST", body, headers } = message;
    const send = async (): Promise<TryResult | NoTry> => {
      const deadline = new AbortController();
      const abort = () => deadline.abort();
      const timer = clock.after(TRY_TIMEOUT_MS, abort);
      stopping.addEventListener("abort", abort);
      if (stopping.aborted) abort();
      try {
        const answer = await egress.request({
          url,
          method,
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
          ...(refused && { refused: { ...refused, isFinal: !canRetry(outgoing.event.type) } }),
        };
      } finally {
        timer.cancel();
        stopping.removeEventListener("abort", abort);
      }
    };
    const name = { id: groupId ?? delivery.id, attempt: delivery.tries + 1 };
    // An aborted attempt and a refusal do not count. A response is too large to be noted.
    return attemptOnce(ctx, name, send, (result) =>
      stopping.aborted || typeof result === "string" || result.refused
        ? undefined
        : { ...result, answer: null },
    );
  }
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
