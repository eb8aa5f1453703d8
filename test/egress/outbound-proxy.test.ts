import { describe, expect, test } from "bun:test";
import type { Fault, HttpAnswer } from "../../src/egress/model";
import { createDeliverySite } from "../support/delivery-site";
import { createTestEgress, faultOf, successOf } from "../support/egress";
import { startProxy } from "../support/proxy";
import { startReceiver } from "../support/receiver";

const PASSWORD = "pr0xy-s3cret";
const CREDENTIALS = `Basic ${btoa(`monitor:${PASSWORD}`)}`;

type Proxy = Awaited<ReturnType<typeof startProxy>>;

/** Returns the settings of a proxy on loopback. */
const settingsOf = ({ port }: Proxy, more: Record<string, string> = {}) => ({
  ALLCLEAR_OUTBOUND_PROXY: `http://monitor:${PASSWORD}@127.0.0.1:${port}`,
  ...more,
});

/** Names of targets, each with its answers, of which the last one is repeated. */
const NAMES = {
  "receiver.test": [["127.0.0.1"]],
  "inside.test": [["10.0.0.5"]],
  "mixed.test": [["127.0.0.1", "10.0.0.5"]],
  "rebound.test": [["127.0.0.1"], ["169.254.169.254"]],
};

/** Sends a request of this server through the proxy, to a target on loopback, which webhooks may reach. */
async function requestBy(
  proxy: Proxy,
  url: string,
  more: Record<string, string> = {},
): Promise<{ outcome: HttpAnswer | Fault; lookedUp: string[] }> {
  const env = settingsOf(proxy, more);
  const { request, lookedUp } = await createTestEgress(NAMES, {
    env,
    outboundAllow: "127.0.0.0/8",
  });
  const outcome = await request(url, {
    policy: "webhook",
    proxy: "outbound",
    method: "POST",
    body: "{}",
  });
  return { outcome, lookedUp };
}

describe("a request of this server", () => {
  test("goes through the proxy, which gets the checked address and the credentials", async () => {
    await using proxy = await startProxy();
    await using receiver = startReceiver();
    const { port } = new URL(receiver.url);
    const { outcome } = await requestBy(proxy, `http://receiver.test:${port}/hooks`);
    expect(successOf(outcome).status).toBe(200);
    const authority = `127.0.0.1:${port}`;
    expect(proxy.requests).toEqual([{ authority, host: authority, credentials: CREDENTIALS }]);
  });

  // A target, and the settings, by which the proxy is asked for nothing.
  test.each<[what: string, host: string, more: Record<string, string>]>([
    ["a private address", "10.0.0.5", {}],
    ["a name with a private address", "inside.test", {}],
    ["a name with one private address among others", "mixed.test", {}],
    ["an address of metadata", "169.254.169.254", {}],
    ["another spelling of an address", "0xa9fea9fe", {}],
    [
      "a private address where the proxy gets names",
      "10.0.0.5",
      { ALLCLEAR_OUTBOUND_PROXY_TARGET: "name" },
    ],
    ["a name of the proxy itself", "localhost", { ALLCLEAR_OUTBOUND_PROXY_TARGET: "name" }],
    ["a name of metadata", "metadata.google.internal", { ALLCLEAR_OUTBOUND_PROXY_TARGET: "name" }],
    ...[
      "localhost.localdomain",
      "localhost6",
      "ip6-loopback",
      "metadata.goog",
      "host.docker.internal.",
    ].map((name): [string, string, Record<string, string>] => [
      `the name ${name}`,
      name,
      { ALLCLEAR_OUTBOUND_PROXY_TARGET: "name" },
    ]),
    ["a name below that", "a.localhost", { ALLCLEAR_OUTBOUND_PROXY_TARGET: "name" }],
  ])("to %s is refused without a word to the proxy", async (_, host, more) => {
    await using proxy = await startProxy();
    const { outcome } = await requestBy(proxy, `http://${host}/`, more);
    expect(faultOf(outcome).kind).toBe("refused");
    expect(proxy.requests).toEqual([]);
  });

  test("goes to the address that was checked, even if its name resolves to another one later", async () => {
    await using proxy = await startProxy();
    await using receiver = startReceiver();
    const { port } = new URL(receiver.url);
    const { outcome, lookedUp } = await requestBy(proxy, `http://rebound.test:${port}/`);
    expect(successOf(outcome).status).toBe(200);
    expect(lookedUp).toEqual(["rebound.test"]);
    expect(proxy.requests.map(({ authority }) => authority)).toEqual([`127.0.0.1:${port}`]);
  });

  test("leaves the name to a proxy that gets names", async () => {
    await using proxy = await startProxy({ addressOf: () => "127.0.0.1" });
    await using receiver = startReceiver();
    const { port } = new URL(receiver.url);
    const more = { ALLCLEAR_OUTBOUND_PROXY_TARGET: "name" };
    const { outcome, lookedUp } = await requestBy(proxy, `http://only.proxy.test:${port}/`, more);
    expect(successOf(outcome).status).toBe(200);
    expect(lookedUp).toEqual([]);
    expect(proxy.requests.map(({ authority }) => authority)).toEqual([`only.proxy.test:${port}`]);
  });

  test.each([
    "receiver.test",
    ".test",
    "*.test",
    "RECEIVER.TEST.",
    "127.0.0.1",
    "10.0.0.0/8, 127.0.0.0/8",
    "*",
  ])("goes directly to a host of ALLCLEAR_NO_PROXY %s", async (hosts) => {
    await using proxy = await startProxy();
    await using receiver = startReceiver();
    const { port } = new URL(receiver.url);
    const more = { ALLCLEAR_NO_PROXY: hosts };
    const { outcome } = await requestBy(proxy, `http://receiver.test:${port}/`, more);
    expect(successOf(outcome).status).toBe(200);
    expect(proxy.requests).toEqual([]);
  });

  test("goes through the proxy if ALLCLEAR_NO_PROXY names other hosts", async () => {
    await using proxy = await startProxy();
    await using receiver = startReceiver();
    const { port } = new URL(receiver.url);
    const more = { ALLCLEAR_NO_PROXY: "eceiver.test, test.example, 10.0.0.0/8, ::1" };
    const { outcome } = await requestBy(proxy, `http://receiver.test:${port}/`, more);
    expect(successOf(outcome).status).toBe(200);
    expect(proxy.requests).toHaveLength(1);
  });

  test("fails without a word of the credentials if the proxy rejects them", async () => {
    await using proxy = await startProxy({ refuse: () => 407 });
    const { outcome } = await requestBy(proxy, "http://receiver.test/");
    const { kind, message } = faultOf(outcome);
    expect([kind, message]).toEqual(["proxy", "The proxy rejected the credentials (407)."]);
  });

  test("of a monitor does not use the proxy", async () => {
    await using proxy = await startProxy();
    await using receiver = startReceiver();
    const { request } = await createTestEgress({}, { env: settingsOf(proxy) });
    expect(successOf(await request(receiver.url)).status).toBe(200);
    expect(proxy.requests).toEqual([]);
  });
});

describe("a webhook", () => {
  /** Delivers an event through a proxy and returns what was stored and logged. */
  async function deliver(proxy: Proxy, url: string) {
    const env = settingsOf(proxy);
    const { egress } = await createTestEgress({}, { env, outboundAllow: "127.0.0.0/8" });
    await using site = await createDeliverySite({ egress });
    await site.endpoint(url);
    await site.recordEvents("cmp_1");
    await site.idle();
    const [attempt] = site.tries();
    expect(JSON.stringify([site.tries(), site.deliveries(), site.app.logged])).not.toContain(
      PASSWORD,
    );
    return attempt;
  }

  test("is delivered through the proxy, signed as without one", async () => {
    await using proxy = await startProxy();
    await using receiver = startReceiver();
    expect(await deliver(proxy, receiver.url)).toMatchObject({ statusCode: 200, error: null });
    const { host } = new URL(receiver.url);
    expect(proxy.requests).toEqual([{ authority: host, host, credentials: CREDENTIALS }]);
    const [received] = receiver.received;
    expect(received?.headers).toMatchObject({ host, "webhook-signature": expect.any(String) });
    expect(received?.headers).not.toHaveProperty("proxy-authorization");
  });

  test("is sent again later if the proxy fails, with the reason", async () => {
    await using proxy = await startProxy({ refuse: () => 503 });
    await using receiver = startReceiver();
    expect(await deliver(proxy, receiver.url)).toMatchObject({
      statusCode: null,
      error: "The proxy could not connect to the target (503).",
    });
    expect(receiver.received).toEqual([]);
  });
});
