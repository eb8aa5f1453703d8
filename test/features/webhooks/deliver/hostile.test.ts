import { describe, expect, test } from "bun:test";
import { SECOND_MS } from "../../../../src/base/time";
import { createDeliverySite } from "../../../support/delivery-site";
import {
  answering,
  httpAnswer,
  type OnConnection,
  startRawServer,
  startTlsServer,
} from "../../../support/raw-server";
import { startReceiver } from "../../../support/receiver";

/** Delivers one event to a raw server and returns the result of the first attempt. */
async function outcomeOf(onConnection: OnConnection) {
  await using server = await startRawServer(onConnection);
  await using site = await createDeliverySite();
  await site.endpoint(`http://127.0.0.1:${server.port}/hook`);
  await site.recordEvents("cmp_1");
  await site.idle();
  // Whatever came of it, no connection is left open.
  await server.allClosed();
  return { attempt: site.tries()[0], delivery: site.deliveries()[0] };
}

describe("hostile receivers", () => {
  test("an answer of 200 with an endless body is a success, and 20 KiB of it are stored", async () => {
    const { attempt, delivery } = await outcomeOf((socket) =>
      socket.once("data", () => {
        const pour = () => {
          while (!socket.destroyed && socket.write("abcdefgh".repeat(1_024))) {
            /* until the buffer is full */
          }
        };
        socket.on("drain", pour);
        socket.write("HTTP/1.1 200 -\r\nContent-Type: text/plain\r\n\r\n");
        pour();
      }),
    );
    expect(delivery?.status).toBe("delivered");
    expect(attempt?.answer).toHaveLength(20 * 1_024);
  });

  test("a redirect to a metadata address is a failure and is not followed", async () => {
    const location = "http://169.254.169.254/latest/meta-data/";
    const { attempt, delivery } = await outcomeOf(
      answering(httpAnswer(302, "", { Location: location })),
    );
    expect(attempt).toMatchObject({ statusCode: 302, error: null });
    expect(delivery).toMatchObject({ status: "pending", tries: 1 });
  });

  test("a redirect to another receiver is a failure and is not followed", async () => {
    await using other = startReceiver();
    const { delivery } = await outcomeOf(answering(httpAnswer(307, "", { Location: other.url })));
    expect(delivery).toMatchObject({ status: "pending", tries: 1 });
    expect(other.received).toEqual([]);
  });

  test("a connection closed without an answer is a failure", async () => {
    const { attempt, delivery } = await outcomeOf((socket) =>
      socket.once("data", () => socket.destroy()),
    );
    expect(attempt).toMatchObject({
      statusCode: null,
      error: "The connection was closed without an answer.",
      answer: null,
    });
    expect(delivery).toMatchObject({ status: "pending", tries: 1 });
  });

  test("an answer that is not HTTP is a failure", async () => {
    const { attempt } = await outcomeOf(answering("SSH-2.0-OpenSSH_9.9\r\n"));
    expect(attempt).toMatchObject({ statusCode: null, error: expect.stringContaining("not HTTP") });
  });

  test.each(["expired", "other", "self"] as const)(
    "a receiver with an invalid certificate (%s) gets no request, and one with a valid certificate does",
    async (bad) => {
      const requests: string[] = [];
      const takeDown = answering((request) => {
        requests.push(request);
        return httpAnswer(200);
      });
      await using site = await createDeliverySite({ names: { "shop.test": [["127.0.0.1"]] } });
      await using worse = await startTlsServer(bad, takeDown);
      const { id } = await site.endpoint(`https://shop.test:${worse.port}/`);
      await site.recordEvents("cmp_1");
      await site.idle();
      expect(requests).toEqual([]);
      expect(site.tries()).toMatchObject([
        { statusCode: null, error: expect.stringMatching(/^The certificate/) },
      ]);

      await using better = await startTlsServer("good", takeDown);
      const good = await site.endpoint(`https://shop.test:${better.port}/`);
      await site.recordEvents("cmp_2");
      await site.idle();
      expect(requests).toHaveLength(1);
      const arrived = site.deliveries().filter(({ status }) => status === "delivered");
      expect(arrived.map(({ webhookId }) => webhookId)).toEqual([good.id]);
      expect(id).not.toBe(good.id);
    },
  );

  test.each([
    ["does not answer", () => undefined],
    ["answers without an end", "HTTP/1.1 200 -\r\nContent-Length: 10\r\n\r\nabc"],
  ] as const)("a receiver that %s has 15 seconds in total", async (_how, answer) => {
    let arrival = Promise.withResolvers<void>();
    await using server = await startRawServer((socket) =>
      socket.once("data", () => {
        if (typeof answer === "string") socket.write(answer);
        arrival.resolve();
      }),
    );
    await using site = await createDeliverySite();
    await site.endpoint(`http://127.0.0.1:${server.port}/`);
    await site.recordEvents("cmp_1");
    await arrival.promise;
    await site.app.clock.advance(15 * SECOND_MS - 1);
    expect(site.tries()).toEqual([]);
    arrival = Promise.withResolvers();
    await site.app.clock.advance(1);
    await site.idle();
    expect(site.tries()).toMatchObject([
      { statusCode: null, latencyMs: 15_000, error: expect.stringMatching(/^Timed out/) },
    ]);
    expect(site.deliveries()).toMatchObject([{ status: "pending" }]);
    await server.allClosed();
  });
});

describe("blocked addresses", () => {
  test("a name that resolves to a blocked address at the time of sending gets no request", async () => {
    await using receiver = startReceiver();
    await using site = await createDeliverySite({
      names: { "rebound.test": [["127.0.0.1"], ["127.0.0.2"]] },
      outboundAllow: "127.0.0.1/32",
    });
    await site.endpoint(`http://rebound.test:${new URL(receiver.url).port}/`);
    await site.recordEvents("cmp_1");
    await site.idle();
    expect(receiver.received).toHaveLength(1);
    await site.recordEvents("cmp_2");
    await site.idle();
    expect(receiver.received).toHaveLength(1);
    expect(site.tries()).toMatchObject([
      { statusCode: 200 },
      {
        statusCode: null,
        error: expect.stringMatching(
          /^The host's address is not an address of the public internet; /,
        ),
      },
    ]);
  });
});

describe("stored answers of receivers", () => {
  const answered = async (body: string, headers: Record<string, string> = {}) =>
    (await outcomeOf(answering(httpAnswer(200, body, headers)))).attempt?.answer;

  test("an answer is stored only if it is text", async () => {
    expect(await answered("fine", { "Content-Type": "text/plain" })).toBe("fine");
    expect(await answered('{"a":1}', { "Content-Type": "application/problem+json" })).toBe(
      '{"a":1}',
    );
    expect(await answered("fine")).toBe("fine");
    expect(await answered("")).toBeNull();
    expect(await answered("fine", { "Content-Type": "image/png" })).toBeNull();
    expect(await answered("a\0b")).toBeNull();
    expect(await answered("\xd0\xe0", { "Content-Type": "text/plain; charset=cp1251" })).toBe("Ра");
    expect(await answered("a", { "Content-Type": "text/plain; charset=hz-gb-2312" })).toBeNull();
  });

  test("an answer is stored without the endpoint's secrets", async () => {
    const token = "AWnhsVvNnMtXp3q";
    await using receiver = startReceiver(({ headers }) => new Response(JSON.stringify(headers)));
    await using site = await createDeliverySite();
    await site.endpoint(new URL(receiver.url).origin, { format: "gotify", settings: { token } });
    await site.recordEvents({ type: "incident.created", data: { name: "A" } });
    await site.idle();
    expect(JSON.stringify(receiver.received[0]?.headers)).toContain(token);
    expect(site.tries()[0]?.answer).toContain("x-gotify-key");
    expect(site.tries()[0]?.answer).not.toContain(token);
  });
});
