import { describe, expect, test } from "bun:test";
import { Failure } from "../../../src/cli/command";
import { createClient, EXIT, type Machine } from "../../../src/cli/remote/client";
import { startRawServer } from "../../support/raw-server";
import { until } from "../../support/until";

const SERVER = "https://status.test";
const KEY = "allclear_secret";
const NOW = Date.parse("2026-03-10T12:00:00Z");

/** An answer of a test, or the error with which a try ends. */
type Scripted = Response | Error;

interface SentRequest {
  url: string;
  init: BunFetchRequestInit;
  headers: Headers;
}

/** Returns a client for a server that gives these answers in turn, with the requests and waits so far. */
function scripted(answers: Scripted[], more: { server?: string } = {}) {
  const sent: SentRequest[] = [];
  const waits: number[] = [];
  const states: string[] = [];
  const machine: Machine = {
    async fetch(url, init) {
      sent.push({ url, init, headers: new Headers(init.headers) });
      const answer = answers.shift();
      if (!answer) throw new Error("no further request was expected");
      if (answer instanceof Error) throw answer;
      return answer;
    },
    async sleep(ms) {
      waits.push(ms);
    },
    now: () => NOW,
  };
  const connection = { server: SERVER, key: KEY, timeoutMs: 10_000, ...more };
  const showWait = (state: string) => void states.push(state);
  return { client: createClient({ ...connection, showWait }, machine), sent, waits, states };
}

/** Returns an answer of Allclear. */
function answer(status: number, body: unknown, headers: Record<string, string> = {}): Response {
  return Response.json(body, { status, headers: { "x-request-id": "req_1", ...headers } });
}

function problem(status: number, detail: string, headers?: Record<string, string>): Response {
  return answer(status, { type: "/docs/errors#x", status, detail }, headers);
}

function networkError(code: string, message = "failed"): Error {
  return Object.assign(new Error(message), { code });
}

async function failureOf(work: Promise<unknown>): Promise<Failure> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Failure)) throw new Error(`no failure: ${String(error)}`);
  return error;
}

const post = (path = "/api/v1/incidents") =>
  [path, { page: "shop", name: "Slow" }] as const satisfies [string, object];

describe("tries of a request", () => {
  test("all tries of a POST have the same Idempotency-Key, and another POST has another one", async () => {
    const { client, sent } = scripted([
      networkError("ECONNRESET"),
      new Response("Bad gateway", { status: 502 }),
      problem(503, "The database is full."),
      answer(201, { id: "inc_1" }),
      answer(201, { id: "inc_2" }),
    ]);
    expect(await client.post<object>(...post())).toEqual({ id: "inc_1" });
    expect(await client.post<object>(...post())).toEqual({ id: "inc_2" });
    const keys = sent.map(({ headers }) => headers.get("idempotency-key"));
    expect(new Set(keys.slice(0, 4)).size).toBe(1);
    expect(keys[0]).toMatch(/^[\x20-\x7e]{16,128}$/);
    expect(keys[4]).not.toBe(keys[0]);
    expect(new Set(sent.map(({ init }) => init.body)).size).toBe(1);
  });

  test("a request without an answer is sent four times, after longer waits each", async () => {
    const errors = Array.from({ length: 4 }, () => networkError("ECONNREFUSED"));
    const { client, sent, waits, states } = scripted(errors);
    const failure = await failureOf(client.get("/api/v1/status"));
    expect([failure.message, failure.exitCode]).toEqual([
      `No answer from ${SERVER}: the connection was refused.`,
      EXIT.noAnswer,
    ]);
    expect([sent.length, waits]).toEqual([4, [1_000, 2_000, 4_000]]);
    expect(states[0]).toBe(`${failure.message} Trying again in 1 s.`);
    expect(states.at(-1)).toBe("");
  });

  test.each([429, 503])("a wait of up to a minute that a %d asks for is kept", async (status) => {
    const { client, waits } = scripted([
      problem(status, "Later.", { "retry-after": "60" }),
      problem(status, "Later.", { "retry-after": new Date(NOW + 7_000).toUTCString() }),
      problem(status, "Later.", { "retry-after": "soon" }),
      answer(200, { data: [] }),
    ]);
    expect(await client.get<object>("/api/v1/status")).toEqual({ data: [] });
    expect(waits).toEqual([60_000, 7_000, 4_000]);
  });

  test("a wait is a number of seconds or a date by the clock of the server, and nothing else", async () => {
    const date = new Date(NOW + 3_600_000).toUTCString();
    const later = new Date(NOW + 3_605_000).toUTCString();
    const { client, waits } = scripted([
      problem(503, "Later.", { "retry-after": "1.5" }),
      problem(503, "Later.", { "retry-after": "-1" }),
      problem(503, "Later.", { date, "retry-after": later }),
      answer(200, {}),
    ]);
    await client.get("/x");
    expect(waits).toEqual([1_500, 2_000, 5_000]);
  });

  test("a request is not sent again if the server asks for a longer wait", async () => {
    const { client, waits } = scripted([problem(503, "Later.", { "retry-after": "61" })]);
    const failure = await failureOf(client.post<object>(...post()));
    expect([failure.exitCode, failure.message, waits]).toEqual([EXIT.noAnswer, "Later.", []]);
  });

  test("a PATCH is sent again, and has no Idempotency-Key", async () => {
    const { client, sent } = scripted([networkError("ECONNRESET"), answer(200, { id: "cmp_1" })]);
    expect(await client.patch<object>("/x", { status: "operational" })).toEqual({ id: "cmp_1" });
    expect(sent.map(({ init }) => init.method)).toEqual(["PATCH", "PATCH"]);
    expect(sent.map(({ headers }) => headers.get("idempotency-key"))).toEqual([null, null]);
  });

  test("a certificate that is not trusted ends the tries", async () => {
    const { client, sent } = scripted([networkError("SELF_SIGNED_CERT_IN_CHAIN", "self signed")]);
    const failure = await failureOf(client.get("/x"));
    expect([failure.exitCode, failure.message, sent.length]).toEqual([
      EXIT.noAnswer,
      `No answer from ${SERVER}: self signed.`,
      1,
    ]);
  });

  test("a server without TLS is named as one, by the real error", async () => {
    await using server = await startRawServer(
      (socket) => void socket.end("HTTP/1.1 400 No\r\n\r\n"),
    );
    const url = `https://127.0.0.1:${server.port}`;
    const client = createClient({ server: url, key: KEY, timeoutMs: 10_000 });
    client.stopRetrying();
    const { message, exitCode } = await failureOf(client.get("/x"));
    expect([message, exitCode]).toEqual([
      `No answer from ${url}: TLS failed, which the server may not speak on this port.`,
      EXIT.noAnswer,
    ]);
  });

  test("an answer that does not come in time is missing", async () => {
    const late = Object.assign(new Error("The operation timed out."), { name: "TimeoutError" });
    const { client } = scripted([late]);
    client.stopRetrying();
    const { message } = await failureOf(client.get("/x"));
    expect(message).toBe(`No answer from ${SERVER}: none within 10 s.`);
  });

  test.each([
    ["no answer", ""],
    ["the beginning of an answer", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{"],
  ])("a server that sends %s and then nothing is given up after the timeout", async (_, text) => {
    await using server = await startRawServer((socket) => void socket.write(text));
    const url = `http://127.0.0.1:${server.port}`;
    const client = createClient({ server: url, key: KEY, timeoutMs: 100 });
    client.stopRetrying();
    const { message, exitCode } = await failureOf(client.get("/x"));
    expect([message, exitCode]).toEqual([
      `No answer from ${url}: none within 0.1 s.`,
      EXIT.noAnswer,
    ]);
  });

  test("a PATCH is sent fewer times on demand", async () => {
    const { client, sent, waits } = scripted([networkError("ECONNRESET")]);
    const failure = await failureOf(client.patch("/x", {}, 1));
    expect([failure.exitCode, sent.length, waits]).toEqual([EXIT.noAnswer, 1, []]);
  });

  test("an answer without an end is given up at 32 MiB, and one of that length is read", async () => {
    const chunk = Buffer.alloc(1024 * 1024, " ");
    let pulled = 0;
    function answerOf(chunks: number) {
      const body = new ReadableStream({
        pull(controller) {
          pulled += 1;
          if (pulled > chunks) return controller.close();
          controller.enqueue(pulled === 1 ? Buffer.from(`{}${chunk.toString().slice(2)}`) : chunk);
        },
      });
      return new Response(body, { headers: { "x-request-id": "req_1" } });
    }
    expect(await scripted([answerOf(32)]).client.get<object>("/x")).toEqual({});
    pulled = 0;
    const { client, sent } = scripted([answerOf(Infinity)]);
    const failure = await failureOf(client.get("/x"));
    expect([failure.exitCode, failure.message, sent.length]).toEqual([
      EXIT.noAnswer,
      `The answer of ${SERVER} has more than 33554432 bytes.`,
      1,
    ]);
    expect(pulled).toBeLessThan(40);
  });

  test("after `stopRetrying` a wait ends at once, and no request is sent again", async () => {
    const sent: string[] = [];
    const machine: Machine = {
      async fetch(url) {
        sent.push(url);
        throw networkError("ECONNREFUSED");
      },
      sleep: () => Promise.withResolvers<void>().promise,
      now: () => NOW,
    };
    const client = createClient({ server: SERVER, key: KEY, timeoutMs: 10_000 }, machine);
    const failure = failureOf(client.get("/x"));
    await until(() => sent.length === 1);
    client.stopRetrying();
    expect((await failure).exitCode).toBe(EXIT.noAnswer);
    expect(sent).toEqual([`${SERVER}/x`]);
  });
});

describe("answers that are no success", () => {
  test.each([
    [400, EXIT.refused],
    [401, EXIT.credential],
    [403, EXIT.credential],
    [404, EXIT.refused],
    [405, EXIT.refused],
    [409, EXIT.conflict],
    [412, EXIT.conflict],
    [413, EXIT.refused],
    [422, EXIT.refused],
    [500, EXIT.noAnswer],
  ])("status %d is not tried again and gives exit code %d", async (status, exitCode) => {
    const { client, sent } = scripted([problem(status, "No.")]);
    const failure = await failureOf(client.post<object>(...post()));
    expect([failure.message, failure.exitCode, sent.length]).toEqual(["No.", exitCode, 1]);
  });

  test("the message names every invalid field, and an entry of a list by its value", async () => {
    const errors = [
      { pointer: "#/page", detail: "must be the slug or id of a page" },
      { pointer: "#/components/1", detail: "is not a component of the page" },
      { detail: "2 more fields are wrong" },
    ];
    const { client } = scripted([answer(422, { detail: "4 fields are wrong.", errors })]);
    const body = { page: "shop", components: ["shop:a", "shop:b"] };
    const { message } = await failureOf(client.post("/api/v1/maintenance", body));
    expect(message.split("\n")).toEqual([
      "4 fields are wrong.",
      "  page must be the slug or id of a page",
      "  components shop:b is not a component of the page",
      "  2 more fields are wrong",
    ]);
  });

  test("a message has no control characters", async () => {
    const errors = [{ pointer: "#/name\u001b[2J", detail: "\u009b31m\u202ewrong\nline" }];
    const { client } = scripted([answer(422, { detail: "No\u0007.\r\n", errors })]);
    const { message } = await failureOf(client.post<object>(...post()));
    // oxlint-disable-next-line no-control-regex
    expect(message.replace("\n", "")).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
    expect(message).toContain("wrong line");
  });

  test("a redirect is not followed, and is named", async () => {
    const redirect = new Response(null, {
      status: 301,
      headers: { location: "https://other.test/" },
    });
    const { client, sent } = scripted([redirect]);
    const failure = await failureOf(client.get("/x"));
    expect([failure.exitCode, sent.length]).toEqual([EXIT.noAnswer, 1]);
    expect(failure.message).toContain("redirects to https://other.test/");
    expect(sent[0]?.init.redirect).toBe("manual");
  });

  test.each([
    ["a page", new Response("<title>Hello</title>", { status: 200 })],
    ["a document without the id of a request", Response.json({ data: [] })],
    ["a list", Response.json([], { headers: { "x-request-id": "abc" } })],
    ["a sign-in", new Response("Sign in", { status: 401 })],
  ])("%s of another program is no answer of the server", async (_, response) => {
    const { client } = scripted([response]);
    const failure = await failureOf(client.get("/x"));
    expect(failure.message).toBe(
      `Another program answers at ${SERVER}, with status ${response.status}.`,
    );
    expect(failure.exitCode).toBe(EXIT.noAnswer);
  });
});

describe("what is sent", () => {
  test("a request has the key as a bearer, and no message contains it", async () => {
    const { client, sent, states } = scripted([
      networkError("ECONNREFUSED"),
      problem(401, "The API key is not one of this server's."),
    ]);
    const failure = await failureOf(client.get("/api/v1/status"));
    expect(sent[0]?.headers.get("authorization")).toBe(`Bearer ${KEY}`);
    expect([failure.message, failure.stack, ...states].join("\n")).not.toContain(KEY);
    expect(sent[0]?.url).not.toContain(KEY);
  });

  test("a request without TLS goes to no proxy", async () => {
    const local = scripted([answer(200, {})], { server: "http://127.0.0.1:8080" });
    await local.client.get("/x");
    expect(local.sent[0]?.init.proxy).toBe(false);
    const remote = scripted([answer(200, {})]);
    await remote.client.get("/x");
    expect(remote.sent[0]?.init.proxy).toBeUndefined();
  });

  test("a read with an entity tag that still holds returns nothing", async () => {
    const unchanged = new Response(null, { status: 304, headers: { "x-request-id": "req_1" } });
    const { client, sent } = scripted([answer(200, { a: 1 }, { etag: '"1"' }), unchanged]);
    expect(await client.read<object>("/x")).toEqual({ body: { a: 1 }, etag: '"1"' });
    expect(await client.read("/x", '"1"')).toBeUndefined();
    expect(sent.map(({ headers }) => headers.get("if-none-match"))).toEqual([null, '"1"']);
  });

  test("the time of the server is that of its last answer", async () => {
    const date = new Date(NOW + 90_000).toUTCString();
    const { client } = scripted([answer(200, {}, { date })]);
    expect(client.now()).toBe(NOW);
    await client.get("/x");
    expect(client.now()).toBe(NOW + 90_000);
  });
});
