import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { spawnSync } from "node:child_process";
import type { NetworkInterfaceInfo } from "node:os";
import { join } from "node:path";
import { type MonitorType, SUPPORTED_TYPES, type SupportedType } from "../../src/base/status";
import type { Contact } from "../../src/egress/model";
import { OutsideAnswers } from "../../src/egress/outside";
import { outsideAddressOf } from "../../src/egress/policy";
import type { MonitorConfig } from "../../src/features/monitors/probes";
import { MINUTE_MS } from "../../src/base/time";
import { PROCESS_TEST_MS } from "../support/binary";
import { createTestClock } from "../support/clock";
import { createTestEgress, patience } from "../support/egress";
import { probe } from "../support/probe";
import { startProxy } from "../support/proxy";
import { SERVER_TYPE_NAMES, SERVER_TYPES } from "../support/server-types";

setDefaultTimeout(PROCESS_TEST_MS);

const REACH_OUTSIDE = join(import.meta.dir, "../support/processes/reach-outside.ts");

describe("addresses outside", () => {
  for (const [text, address, network] of [
    ["9.9.9.9", "9.9.9.9", "9.9"],
    ["::ffff:9.9.9.9", "9.9.9.9", "9.9"],
    ["64:ff9b::909:909", "9.9.9.9", "9.9"],
    ["2620:fe::fe", "2620:fe::fe", "2620:fe:0"],
    ["2620:00FE::9", "2620:fe::9", "2620:fe:0"],
  ] as const) {
    test(`${text} is one in the network ${network}`, () => {
      expect(outsideAddressOf(text)).toEqual({ address, network });
    });
  }

  for (const text of [
    "10.0.0.1",
    "192.168.1.1",
    "172.16.0.1",
    "100.64.0.1",
    "127.0.0.1",
    "169.254.1.1",
    "192.0.2.1",
    "198.18.0.1",
    "224.0.0.1",
    "0.0.0.0",
    "::1",
    "fe80::1",
    "fd00::1",
    "2001:db8::1",
    "::ffff:10.0.0.1",
    "64:ff9b::a00:1",
    "example.com",
    "",
  ]) {
    test(`${text === "" ? "an empty text" : text} is none`, () => {
      expect(outsideAddressOf(text)).toBeUndefined();
    });
  }
});

describe("answers from outside", () => {
  test("an answer of a global address is noted with its time, that of another one is not", async () => {
    const clock = createTestClock();
    const outside = new OutsideAnswers(clock);
    let count = 0;
    outside.onAnswer = () => (count += 1);
    outside.answered("192.168.1.1");
    expect([outside.lastAt, count]).toEqual([Number.NEGATIVE_INFINITY, 0]);
    await clock.advance(1_000);
    outside.answered("9.9.9.9");
    expect([outside.lastAt, count]).toEqual([clock.monotonic(), 1]);
  });

  test("global addresses of this machine are no answers, not even once its link is cut", async () => {
    const clock = createTestClock();
    const ofAddress = (address: string) => ({ address }) as NetworkInterfaceInfo;
    let interfaces = { eth0: [ofAddress("9.9.9.9"), ofAddress("2620:fe:0::fe")] };
    const outside = new OutsideAnswers(clock, () => interfaces);
    const isAnswer = (address: string) => {
      const before = outside.lastAt;
      outside.answered(address);
      return outside.lastAt > before;
    };
    expect(isAnswer("9.9.9.9")).toBe(false);
    expect(isAnswer("::ffff:9.9.9.9")).toBe(false);
    interfaces = { eth0: [] };
    await clock.advance(MINUTE_MS);
    expect(isAnswer("2620:fe::fe")).toBe(false);
    expect(isAnswer("9.9.9.10")).toBe(true);
  });

  test("where the addresses of the machine cannot be listed, all global ones are outside", () => {
    const outside = new OutsideAnswers(createTestClock(), () => {
      throw new Error("no netlink");
    });
    expect(outside.isOwn("9.9.9.9")).toBe(false);
    outside.answered("9.9.9.9");
    expect(outside.lastAt).toBeGreaterThan(0);
  });

  test("the address of a request is read at most every 50 ms, and of each one while the network is in doubt", () => {
    const outside = new OutsideAnswers(createTestClock());
    const looks = (...times: number[]) => times.map((time) => outside.isLookDue(time));
    expect(looks(1_000, 1_010, 1_049, 1_050, 1_060)).toEqual([true, false, false, true, false]);
    // The clock was set back.
    expect(looks(500, 510)).toEqual([true, false]);
    outside.isInDoubt = true;
    expect(looks(511, 512)).toEqual([true, true]);
  });

  test("a check notes its host, and if it was reached", async () => {
    await using open = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
    const { egress } = await createTestEgress({ "open.test": [["127.0.0.1"]] });
    const contactWith = async (host: string, port: number) => {
      const contact = { addresses: [] as string[] };
      await egress.connect({ host, port, policy: "monitor", signal: patience(), contact });
      return contact;
    };
    expect(await contactWith("open.test", open.port)).toMatchObject({
      host: "open.test",
      addresses: ["127.0.0.1"],
      hasAnswered: true,
      silence: undefined,
    });
    // A refused connection is an answer.
    expect(await contactWith("127.0.0.1", 1)).toMatchObject({
      hasAnswered: true,
      silence: undefined,
    });
    expect(await contactWith("gone.test", 80)).toMatchObject({
      host: "gone.test",
      addresses: [],
      silence: "dns",
    });
  });
});

test("a target that accepts a proxy's connection has answered, though it says nothing further", async () => {
  const deadline = new AbortController();
  await using target = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: { data: () => deadline.abort() },
  });
  await using proxy = await startProxy();
  const { egress } = await createTestEgress({
    "target.test": [["127.0.0.1"]],
    "other.test": [["127.0.0.1"]],
  });
  const contact: Contact = { addresses: [] };
  const outcome = await egress.request({
    method: "GET",
    url: new URL(`http://target.test:${target.port}/`),
    proxy: { url: new URL(proxy.url), username: "", password: "" },
    policy: "monitor",
    signal: deadline.signal,
    contact,
  });
  expect(outcome).toMatchObject({ kind: "timeout" });
  expect(contact).toMatchObject({ hasAnswered: true, silence: undefined });
});

/** Configs of the types that connect to a host outside, with port 1 of a name, where nothing listens. */
const CONFIGS: Partial<Record<MonitorType, MonitorConfig>> = {
  http: { url: "http://closed.test:1/" },
  tcp: { host: "closed.test", port: 1 },
  tls: { host: "closed.test", port: 1, days: 1 },
  upstream: { url: "http://closed.test:1/" },
  ...Object.fromEntries(
    SERVER_TYPE_NAMES.map((type) => [type, SERVER_TYPES[type]("closed.test", 1)]),
  ),
};

describe("checks", () => {
  for (const [type, config] of Object.entries(CONFIGS) as [SupportedType, MonitorConfig][]) {
    test(`a ${type} check notes the host that it contacts`, async () => {
      const contact: Contact = { addresses: [] };
      const names = { "closed.test": [["127.0.0.1"]] };
      await probe(type, config, { names, context: { contact } });
      expect(contact).toMatchObject({
        host: "closed.test",
        addresses: ["127.0.0.1"],
        hasAnswered: true,
      });
    });
  }

  test("every type with a check notes its host, but those whose host the operator or a registry names", () => {
    const others = ["ping", "dns", "docker", "domain", "push", "alert"];
    expect([...Object.keys(CONFIGS), ...others].toSorted()).toEqual(SUPPORTED_TYPES.toSorted());
  });

  test("a ping and a DNS query note their host, or their resolver", async () => {
    const ping: Contact = { addresses: [] };
    await probe("ping", { host: "gone.test" }, { context: { contact: ping } });
    expect(ping).toMatchObject({ host: "gone.test", addresses: [], silence: "dns" });
    const dns: Contact = { addresses: [] };
    const signal = AbortSignal.timeout(50);
    const config = { name: "example.com", resolver: "127.0.0.1:1" };
    await probe("dns", config, { context: { contact: dns, signal } });
    expect(dns).toMatchObject({ host: "127.0.0.1", addresses: ["127.0.0.1"] });
    expect(dns.silence).toMatch(/^(dns|timeout)$/);
  });
});

/** Connects to port 80 of hosts in a network of its own, in which `setUp` has run. */
function connectTo(setUp: string, ...hosts: string[]) {
  const script = `ip link set lo up && ${setUp} && exec "$@"`;
  const command = ["--net", "sh", "-c", script, "sh", process.execPath, REACH_OUTSIDE, ...hosts];
  const { status, stdout, stderr } = spawnSync("unshare", command, { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as unknown;
}

function hasOwnNetworks(): boolean {
  const { status } = spawnSync("unshare", ["--net", "ip", "link", "set", "lo", "up"]);
  if (status !== 0) console.warn("SKIPPED: the tests of lost routes; no network of its own");
  return status === 0;
}

describe.skipIf(!hasOwnNetworks())("a connection that the runtime reports as refused", () => {
  test("is an answer if the host refused it", () => {
    expect(connectTo("ip address add 9.9.9.9/32 dev lo", "9.9.9.9")).toEqual([
      { message: "The connection was refused.", isAnswer: true, silence: null },
    ]);
  });

  test("is none without a route to the network or the host", () => {
    const outcomes = connectTo(
      "ip route add unreachable 8.8.8.8/32",
      "9.9.9.9",
      "2620:fe::fe",
      "8.8.8.8",
    );
    expect(outcomes).toEqual([
      { message: "There is no route to the network.", isAnswer: false, silence: "connect" },
      { message: "There is no route to the network.", isAnswer: false, silence: "connect" },
      { message: "There is no route to the host.", isAnswer: false, silence: "connect" },
    ]);
  });

  test("is none if the gateway does not answer", () => {
    const setUp = [
      "ip link add near type veth peer name far",
      "ip address add 192.0.2.1/24 dev near",
      "ip link set near up",
      "ip link set far up",
      "ip route add default via 192.0.2.2",
    ].join(" && ");
    expect(connectTo(setUp, "9.9.9.9")).toEqual([
      { message: "There is no route to the host.", isAnswer: false, silence: "connect" },
    ]);
  });
});
