import { describe, expect, test } from "bun:test";
import { createPurgeRequests } from "../../../src/fleet/cdn";
import { createTestClock } from "../../support/clock";
import { createTestEgress, patience } from "../../support/egress";
import { startReceiver } from "../../support/receiver";

const SECRET = "kept-secret";
const HEADER = { name: "Fastly-Key", value: SECRET };

describe("a request to the purge address", () => {
  test("a purge has the tags in two headers and as JSON, and the credential, also in a private network", async () => {
    await using receiver = startReceiver();
    const { egress, clock } = await createTestEgress();
    const url = `${receiver.url}?zone=1`;
    const send = createPurgeRequests(clock, egress, { url, header: HEADER });
    expect(await send(["page-pag_1", "page-pag_2"], patience())).toBeUndefined();
    const [request] = receiver.received;
    expect(request?.headers).toMatchObject({
      "content-type": "application/json",
      "surrogate-key": "page-pag_1 page-pag_2",
      "cache-tag": "page-pag_1,page-pag_2",
      "fastly-key": SECRET,
    });
    expect(JSON.parse(request?.body ?? "")).toEqual({ tags: ["page-pag_1", "page-pag_2"] });
  });

  test.each([
    [200, undefined, undefined],
    [204, undefined, undefined],
    [302, undefined, { error: "The purge address answered 302.", retryAfterMs: 0 }],
    [403, undefined, { error: "The purge address answered 403.", retryAfterMs: 0 }],
    [429, "30", { error: "The purge address answered 429.", retryAfterMs: 30_000 }],
    [
      503,
      "Tue, 10 Mar 2026 12:00:00 GMT",
      { error: "The purge address answered 503.", retryAfterMs: 0 },
    ],
  ] as const)(
    "the answer %p with Retry-After %p means %j",
    async (status, retryAfter, expected) => {
      const headers: Record<string, string> = retryAfter ? { "Retry-After": retryAfter } : {};
      await using receiver = startReceiver(
        () => new Response(status === 204 ? null : `your key ${SECRET}`, { status, headers }),
      );
      const { egress, clock } = await createTestEgress();
      const send = createPurgeRequests(clock, egress, { url: receiver.url, header: HEADER });
      expect(await send(["all"], patience())).toEqual(expected);
    },
  );

  test("a connection that fails has a reason without the address and the credential", async () => {
    const receiver = startReceiver();
    await receiver[Symbol.asyncDispose]();
    const { egress, clock } = await createTestEgress();
    const url = `${receiver.url}?key=${SECRET}`;
    const send = createPurgeRequests(clock, egress, { url, header: HEADER });
    const failure = await send(["all"], patience());
    expect(failure?.error).toMatch(/^[A-Z].+\.$/);
    expect(failure?.error).not.toMatch(/127\.0\.0\.1|kept-secret/);
  });

  test("an address of cloud metadata is never reached", async () => {
    const { egress, clock } = await createTestEgress();
    const url = "http://169.254.169.254/";
    const send = createPurgeRequests(clock, egress, { url, header: undefined });
    expect((await send(["all"], patience()))?.error).toContain("link-local");
  });

  test("a purge address that never answers is given up after 10 seconds, or when the server stops", async () => {
    await using receiver = startReceiver(() => new Promise(() => {}));
    const clock = createTestClock();
    const { egress } = await createTestEgress({}, { clock });
    const send = createPurgeRequests(clock, egress, { url: receiver.url, header: undefined });
    const first = send(["all"], patience());
    await receiver.until(1);
    await clock.advance(10_000);
    expect((await first)?.error).toStartWith("Timed out");
    const stopping = new AbortController();
    const second = send(["all"], stopping.signal);
    await receiver.until(2);
    stopping.abort();
    expect((await second)?.error).toStartWith("Timed out");
  });
});
