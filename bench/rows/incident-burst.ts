import type { Figure } from "../support/figure";
import { createStormSite, type Inbox, type Limit } from "../support/storm-site";
import type { Workspace } from "../support/workspace";

const INCIDENTS = 30;
const SLACK_REACH_S = 35;
const TELEGRAM_REACH_S = 75;
const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const PER_MINUTE = 20;
const TOO_MANY = 429;
/** More than the longest wait of an executable that retries after fixed delays. */
const PATIENCE_MS = 420_000;
const LOOK_EVERY_MS = 250;

/** Measures the delivery of thirty incidents that a key opens at once, to receivers that limit their rate. */
export async function measureIncidentBurst(workspace: Workspace): Promise<Figure[]> {
  await using site = await createStormSite(workspace);
  const events = ["incident.created"];
  const slack = await site.endpoint({ format: "slack", events }, onePerSecond());
  const settings = { bot_token: "123456:bench", chat_id: "-100" };
  const telegram = await site.endpoint({ format: "telegram", events, settings }, twentyPerMinute());
  const startedAt = Date.now();
  for (let n = 0; n < INCIDENTS; n++) {
    const body = { page: site.slug, name: nameOf(n), body: "We are looking into it." };
    await site.call("POST", "incidents", body);
  }
  const untilMs = startedAt + PATIENCE_MS;
  while (Date.now() < untilMs && [slack, telegram].some((inbox) => !isComplete(inbox))) {
    await Bun.sleep(LOOK_EVERY_MS);
  }
  return [
    figureOf("1 message per second", slack, startedAt, SLACK_REACH_S),
    figureOf(`${PER_MINUTE} messages per minute`, telegram, startedAt, TELEGRAM_REACH_S),
  ];
}

const nameOf = (n: number) => `Incident ${String(n).padStart(2, "0")}`;

/** Returns the numbers of the incidents whose messages were accepted, in the order of arrival. */
function acceptedOf({ messages }: Inbox): number[] {
  return messages
    .filter(({ isAccepted }) => isAccepted)
    .map(({ body }) => Number(/Incident (\d\d)/.exec(body)?.[1]));
}

function isComplete(inbox: Inbox): boolean {
  return new Set(acceptedOf(inbox)).size === INCIDENTS;
}

function figureOf(what: string, inbox: Inbox, startedAt: number, reachSeconds: number): Figure {
  const numbers = acceptedOf(inbox);
  const lost = INCIDENTS - new Set(numbers).size;
  const lastAt = inbox.messages.findLast(({ isAccepted }) => isAccepted)?.at ?? startedAt;
  const seconds = (lastAt - startedAt) / SECOND_MS;
  const isInOrder = numbers.every((number, index) => number === index);
  const refusals = inbox.messages.filter(({ isAccepted }) => !isAccepted).length;
  const loss = lost > 0 ? `${lost} missing, ` : "";
  return {
    what: `${INCIDENTS} incidents at once by a key, receiver of ${what}, else 429: until the last message`,
    target: `${reachSeconds} s, in order, none missing`,
    measured: `${seconds.toFixed(1)} s, ${loss}${isInOrder ? "in order" : "not in order"}, ${refusals} refused`,
    isReached: seconds <= reachSeconds && isInOrder && lost === 0,
    numbers: { seconds, refused: refusals },
  };
}

/** A receiver as Slack's: accepts a message if none was accepted within the last second. */
function onePerSecond(): Limit {
  let acceptedAt = 0;
  return (at) => {
    if (at - acceptedAt < SECOND_MS) {
      return new Response("rate_limited", { status: TOO_MANY, headers: { "Retry-After": "1" } });
    }
    acceptedAt = at;
    return undefined;
  };
}

/** A receiver as Telegram's: accepts twenty messages in any minute, and names the wait in the body. */
function twentyPerMinute(): Limit {
  let accepted: number[] = [];
  return (at) => {
    accepted = accepted.filter((time) => at - time < MINUTE_MS);
    const [oldest = at] = accepted;
    if (accepted.length < PER_MINUTE) {
      accepted.push(at);
      return undefined;
    }
    const retryAfter = Math.ceil((oldest + MINUTE_MS - at) / SECOND_MS);
    return Response.json(
      {
        ok: false,
        error_code: TOO_MANY,
        description: `Too Many Requests: retry after ${retryAfter}`,
        parameters: { retry_after: retryAfter },
      },
      { status: TOO_MANY },
    );
  };
}
