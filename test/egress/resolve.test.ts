import { describe, expect, test } from "bun:test";
import { boundedLookup, type Lookup, systemLookup } from "../../src/egress/dns";
import { systemClock } from "../../src/base/clock";
import { createTestClock, settle } from "../support/clock";
import { createTestEgress, faultOf, patience, successOf } from "../support/egress";
import { answering, httpAnswer, startRawServer } from "../support/raw-server";

const monitored = () => ({ policy: "monitor" as const, signal: patience() });

describe("name resolution of a request", () => {
  test("a name is resolved once per request, so a second answer cannot redirect it", async () => {
    await using server = await startRawServer(answering(httpAnswer(200, "hi")));
    const { request, lookedUp } = await createTestEgress({
      "rebinding.test": [["127.0.0.1"], ["169.254.169.254"]],
    });
    const url = `http://rebinding.test:${server.port}/`;
    const answer = successOf(await request(url));
    expect(answer.address).toBe("127.0.0.1");
    expect(lookedUp).toEqual(["rebinding.test"]);
    expect(faultOf(await request(url)).kind).toBe("refused");
    expect(server.connections()).toBe(1);
  });

  test("the server gets the name in Host, not the address", async () => {
    let head = "";
    await using server = await startRawServer(
      answering((request) => {
        head = request;
        return httpAnswer(200);
      }),
    );
    const { request } = await createTestEgress({ "shop.test": [["127.0.0.1"]] });
    successOf(await request(`http://shop.test:${server.port}/a?b=c`));
    expect(head).toStartWith("GET /a?b=c HTTP/1.1\r\n");
    expect(head).toContain(`Host: shop.test:${server.port}\r\n`);
    expect(head).toContain("Connection: close\r\n");
  });

  test("one forbidden address among several rejects the name, and nothing is sent", async () => {
    await using server = await startRawServer(answering(httpAnswer(200)));
    const { request } = await createTestEgress({
      "mixed.test": [["127.0.0.1", "169.254.169.254"]],
      "mapped.test": [["127.0.0.1", "::ffff:169.254.169.254"]],
    });
    for (const name of ["mixed.test", "mapped.test"]) {
      const fault = faultOf(await request(`http://${name}:${server.port}/`));
      expect(fault).toMatchObject({ kind: "refused" });
      expect(fault.message).toBe(
        "The host's address is a link-local address, where clouds keep their metadata.",
      );
    }
    expect(server.connections()).toBe(0);
  });

  test("an address is used without a look-up, in any notation", async () => {
    const { egress, lookedUp } = await createTestEgress();
    expect(await egress.resolve({ host: "0x7f.1", ...monitored() })).toEqual(["127.0.0.1"]);
    expect(await egress.resolve({ host: "[::1]", ...monitored() })).toEqual(["::1"]);
    expect(faultOf(await egress.resolve({ host: "2852039166", ...monitored() })).kind).toBe(
      "refused",
    );
    expect(lookedUp).toEqual([]);
  });

  test("private addresses are allowed for monitors, and for webhooks only if configured", async () => {
    const names = { "inside.test": [["10.1.2.3"]] };
    const closed = await createTestEgress(names);
    const open = await createTestEgress(names, { outboundAllow: "10.0.0.0/8" });
    const webhook = { host: "inside.test", policy: "webhook" as const, signal: patience() };
    expect(await closed.egress.resolve({ ...webhook, policy: "monitor" })).toEqual(["10.1.2.3"]);
    expect(faultOf(await closed.egress.resolve(webhook)).kind).toBe("refused");
    expect(await open.egress.resolve(webhook)).toEqual(["10.1.2.3"]);
  });

  test("a required address family is enforced", async () => {
    const { egress } = await createTestEgress({
      "both.test": [["::1", "127.0.0.1"]],
      "four.test": [["127.0.0.1"]],
    });
    const lookup = (host: string, family?: 4 | 6) =>
      egress.resolve({ host, family, ...monitored() });
    expect(await lookup("both.test")).toEqual(["::1", "127.0.0.1"]);
    expect(await lookup("both.test", 4)).toEqual(["127.0.0.1"]);
    expect(faultOf(await lookup("four.test", 6)).message).toBe("The host has no IPv6 address.");
    expect(faultOf(await lookup("127.0.0.1", 6)).kind).toBe("dns");
  });

  test("a name without an address is a fault with that message", async () => {
    const { egress } = await createTestEgress({ "empty.test": [[]] });
    const lookup = (host: string) => egress.resolve({ host, ...monitored() });
    expect(faultOf(await lookup("nowhere.test"))).toMatchObject({
      kind: "dns",
      message: "The name has no address.",
    });
    expect(faultOf(await lookup("empty.test")).kind).toBe("dns");
    expect(faultOf(await lookup("not a host")).kind).toBe("refused");
  });
});

describe("limits of name resolution", () => {
  const never = () => new Promise<string[]>(() => {});

  test("a look-up without an answer ends with the deadline", async () => {
    const lookup = boundedLookup(never, 9);
    const deadline = new AbortController();
    const answer = lookup("slow.test", undefined, deadline.signal);
    deadline.abort();
    expect(typeof (await answer)).toBe("symbol");
  });

  test("the number of concurrent look-ups is limited, and an aborted one is never started", async () => {
    const names: string[] = [];
    const answers = new Map<string, (addresses: string[]) => void>();
    const lookup = boundedLookup((name) => {
      names.push(name);
      return new Promise((resolve) => answers.set(name, resolve));
    }, 2);
    const impatient = new AbortController();
    const [a, b] = ["a", "b"].map((name) => lookup(name, undefined, patience()));
    const c = lookup("c", undefined, impatient.signal);
    const d = lookup("d", undefined, patience());
    expect(names).toEqual(["a", "b"]);
    impatient.abort();
    await c;
    answers.get("a")?.(["1.1.1.1"]);
    expect(await a).toEqual(["1.1.1.1"]);
    await settle();
    expect(names).toEqual(["a", "b", "d"]);
    answers.get("b")?.(["2.2.2.2"]);
    answers.get("d")?.(["4.4.4.4"]);
    expect(await b).toEqual(["2.2.2.2"]);
    expect(await d).toEqual(["4.4.4.4"]);
  });

  test("concurrent look-ups of one name share one answer, which is not kept", async () => {
    let calls = 0;
    const lookup = boundedLookup(async () => [`10.0.0.${++calls}`], 9);
    const both = await Promise.all([1, 2].map(() => lookup("a", undefined, patience())));
    expect(both).toEqual([["10.0.0.1"], ["10.0.0.1"]]);
    await settle();
    expect(await lookup("a", undefined, patience())).toEqual(["10.0.0.2"]);
  });

  test("a failed look-up rejects its callers and is not kept", async () => {
    let calls = 0;
    const lookup = boundedLookup(async () => {
      calls += 1;
      if (calls === 1) throw new Error("down");
      return ["10.0.0.1"];
    }, 9);
    await expect(lookup("a", undefined, patience())).rejects.toThrow("down");
    await settle();
    expect(await lookup("a", undefined, patience())).toEqual(["10.0.0.1"]);
  });
});

describe("name resolution of the system", () => {
  const failing = (code: string) => async () => {
    throw Object.assign(new Error(code), { code });
  };

  function machine(quick: Lookup) {
    const clock = createTestClock();
    let thorough = 0;
    const lookup = systemLookup(clock, {
      quick,
      async thorough(name) {
        thorough += 1;
        if (name === "nowhere.test") throw Object.assign(new Error(), { code: "ENOTFOUND" });
        return ["10.0.0.2"];
      },
    });
    return {
      clock,
      lookup: (name: string) => lookup(name, undefined, patience()),
      thorough: () => thorough,
    };
  }

  test("a name is resolved by the quick resolver if that finds it", async () => {
    const { lookup, thorough } = machine(async () => ["10.0.0.1"]);
    expect(await lookup("shop.test")).toEqual(["10.0.0.1"]);
    expect(thorough()).toBe(0);
  });

  test("a name that the quick resolver does not find is resolved by the thorough one, each time", async () => {
    const { lookup, thorough } = machine(failing("DNS_ENOTFOUND"));
    expect(await lookup("nas.local")).toEqual(["10.0.0.2"]);
    expect(await lookup("nas.local")).toEqual(["10.0.0.2"]);
    expect(thorough()).toBe(2);
    await expect(lookup("nowhere.test")).rejects.toThrow();
  });

  test("the thorough resolver is used for a minute after the quick one timed out", async () => {
    let quick = 0;
    const { lookup, clock } = machine(async () => {
      quick += 1;
      return failing("DNS_ETIMEOUT")();
    });
    expect(await lookup("shop.test")).toEqual(["10.0.0.2"]);
    expect(await lookup("shop.test")).toEqual(["10.0.0.2"]);
    expect(quick).toBe(1);
    await clock.advance(60_000);
    expect(await lookup("shop.test")).toEqual(["10.0.0.2"]);
    expect(quick).toBe(2);
  });

  test("the system resolves localhost", async () => {
    const lookup = systemLookup(systemClock());
    const addresses = await lookup("localhost", undefined, patience());
    expect(addresses).not.toBeEmpty();
    for (const address of addresses as string[]) expect(["127.0.0.1", "::1"]).toContain(address);
  });
});
