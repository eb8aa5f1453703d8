/** A webhook message that a receiver got. */
export interface Received {
  method: string;
  /** Path and query. */
  path: string;
  /** Value of the header `webhook-id`. */
  id: string;
  headers: Record<string, string>;
  body: string;
  /** Value of `data` in the body. */
  // Tests read it without types.
  // oxlint-disable-next-line typescript/no-explicit-any
  data: any;
}

/** Answer of a receiver: a status or a response, immediately or later. */
type Answer = number | Response | Promise<number | Response>;

/** A real HTTP server on loopback that receives webhooks until it is disposed of. */
export interface Receiver extends AsyncDisposable {
  url: string;
  /** Received requests in the order of arrival. */
  received: readonly Received[];
  /** Resolves when this number of messages has arrived. */
  until(count: number): Promise<void>;
  /** Decides the answer to each message; `count` includes this one. */
  answer: (received: Received, count: number) => Answer;
}

/** Starts a receiver, which answers 200 by default. */
export function startReceiver(answer: Receiver["answer"] = () => 200): Receiver {
  const received: Received[] = [];
  let waiting: { count: number; resolve: () => void }[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    // The deadline of the attempt ends it.
    idleTimeout: 0,
    async fetch(request) {
      const body = await request.text();
      const headers = Object.fromEntries(request.headers);
      const { pathname, search } = new URL(request.url);
      const message = {
        method: request.method,
        path: pathname + search,
        id: headers["webhook-id"] ?? "",
        headers,
        body,
        data: dataOf(body),
      };
      const count = received.push(message);
      const answered = receiver.answer(message, count);
      for (const { resolve } of waiting.filter((waiter) => waiter.count <= count)) resolve();
      waiting = waiting.filter((waiter) => waiter.count > count);
      const given = await answered;
      return typeof given === "number" ? new Response(null, { status: given }) : given;
    },
  });
  const receiver: Receiver = {
    url: `http://127.0.0.1:${server.port}/hook`,
    received,
    until: (count) =>
      received.length >= count
        ? Promise.resolve()
        : new Promise((resolve) => waiting.push({ count, resolve })),
    answer,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
  return receiver;
}

function dataOf(body: string): unknown {
  try {
    return (JSON.parse(body) as { data?: unknown }).data;
  } catch {
    return undefined;
  }
}
