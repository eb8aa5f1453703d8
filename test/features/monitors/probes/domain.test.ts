import { describe, expect, test } from "bun:test";
import type { Egress } from "../../../../src/egress/egress";
import { Fault, type HttpAnswer, type HttpRequest } from "../../../../src/egress/model";
import {
  includedRdapList,
  parseRdapList,
  rdapBaseOf,
  validateDomain,
} from "../../../../src/features/monitors/probes/domain";
import { DAY_MS, HOUR_MS, toIso } from "../../../../src/base/time";
import { expectProblem } from "../../../support/app";
import { createTestClock, TEST_START } from "../../../support/clock";
import { patience } from "../../../support/egress";
import { createMonitorApi } from "../../../support/monitor-api";
import { probe } from "../../../support/probe";

const COM = "https://rdap.verisign.com/com/v1/domain/";
const LIST = "https://data.iana.org/rdap/dns.json";

function answerOf(
  status: number,
  body: unknown = "",
  headers: Record<string, string> = {},
): HttpAnswer {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return {
    status,
    headers: new Map(Object.entries(headers)),
    sentBody: new TextEncoder().encode(text),
    isTruncated: false,
    certificate: null,
    address: "192.0.2.1",
  };
}

const expiring = (at: number) => {
  const events = [
    { eventAction: "registration", eventDate: "1995-08-14T04:00:00Z" },
    { eventAction: "expiration", eventDate: toIso(at) },
  ];
  return answerOf(200, { objectClassName: "domain", events });
};

type Answer = HttpAnswer | Fault;

/** Registries that answer by URL; others answer 404. A test may replace answers. */
function createRegistries(answers: Record<string, Answer | Promise<Answer>>) {
  const clock = createTestClock();
  const asked: string[] = [];
  const unexpected = () => Promise.reject(new Error("unexpected query"));
  const egress: Egress = {
    connect: unexpected,
    resolve: unexpected,
    ping: unexpected,
    socket: unexpected,
    query: unexpected,
    askDocker: unexpected,
    async request({ url, policy, method }: HttpRequest) {
      expect([policy, method]).toEqual(["monitor", "GET"]);
      asked.push(url.href);
      return answers[url.href] ?? answerOf(404);
    },
  };
  const check = (config: object, signal = patience()) =>
    probe("domain", config as never, { context: { egress, clock, signal } });
  return { check, asked, clock, answers };
}

describe("domain checks", () => {
  test("a domain check asks the registry of the top-level domain, in lower case and ASCII", async () => {
    const { check, asked } = createRegistries({
      [`${COM}example.com`]: expiring(TEST_START + 90 * DAY_MS),
      [`${COM}xn--mnchen-3ya.com`]: expiring(TEST_START + 90 * DAY_MS),
    });
    expect(await check({ domain: "Example.COM" })).toEqual({
      outcome: "ok",
      latencyMs: 0,
      message: null,
    });
    expect((await check({ domain: "münchen.com." })).outcome).toBe("ok");
    expect(asked).toEqual([LIST, `${COM}example.com`, `${COM}xn--mnchen-3ya.com`]);
  });

  test("a domain check warns in the last days, and fails once the domain has expired", async () => {
    const at = async (left: number, config: object = {}) => {
      const { check } = createRegistries({ [`${COM}example.com`]: expiring(TEST_START + left) });
      const { outcome, message } = await check({ domain: "example.com", ...config });
      return [outcome, message];
    };
    expect(await at(30 * DAY_MS)).toEqual(["ok", null]);
    expect(await at(30 * DAY_MS - 1)).toEqual(["ok", "The domain expires in 29 days."]);
    expect(await at(5 * DAY_MS, { days: 5 })).toEqual(["ok", null]);
    expect(await at(HOUR_MS, { days: 0 })).toEqual(["ok", null]);
    expect(await at(1)).toEqual(["ok", "The domain expires in 0 days."]);
    expect(await at(0)).toEqual(["failed", "The domain expired on 2026-03-10."]);
  });

  test("a domain check drops the first label up to three times until the registry knows the domain", async () => {
    const known = { [`${COM}example.com`]: expiring(TEST_START + 90 * DAY_MS) };
    const { check, asked } = createRegistries(known);
    expect((await check({ domain: "a.b.c.example.com" })).outcome).toBe("ok");
    expect(asked.slice(1)).toEqual(
      ["a.b.c.example.com", "b.c.example.com", "c.example.com", "example.com"].map(
        (name) => COM + name,
      ),
    );
    expect(await check({ domain: "z.a.b.c.example.com" })).toMatchObject({
      outcome: "failed",
      message: "The domain is not registered.",
    });
    const { check: checkOther, asked: askedOther } = createRegistries({});
    expect((await checkOther({ domain: "gone.com" })).message).toBe(
      "The domain is not registered.",
    );
    expect(askedOther).toEqual([LIST, `${COM}gone.com`]);
  });

  test("a domain that was found once is not judged by its parent when its registration ends", async () => {
    const [name, parent] = [`${COM}shop.example.com`, `${COM}example.com`];
    const { check, asked, clock, answers } = createRegistries({
      [name]: expiring(TEST_START + 5 * DAY_MS),
      [parent]: expiring(TEST_START + 900 * DAY_MS),
    });
    expect((await check({ domain: "www.shop.example.com" })).outcome).toBe("ok");
    delete answers[name];
    const ended = {
      outcome: "failed",
      message: "The domain is no longer registered: its registry does not know it any more.",
    };
    for (const day of [1, 2]) {
      await clock.advance(DAY_MS);
      expect({ day, ...(await check({ domain: "www.shop.example.com" })) }).toMatchObject(ended);
    }
    expect(asked).not.toContain(parent);
    answers[name] = expiring(TEST_START + 400 * DAY_MS);
    await clock.advance(DAY_MS);
    expect(await check({ domain: "www.shop.example.com" })).toMatchObject({ outcome: "ok" });
  });

  test("checks at the same time ask the registry once, unless that fails", async () => {
    const url = `${COM}example.com`;
    const { check, asked, answers } = createRegistries({
      [url]: expiring(TEST_START + 90 * DAY_MS),
    });
    const both = () =>
      Promise.all([check({ domain: "example.com" }), check({ domain: "example.com", days: 100 })]);
    const outcomes = (await both()).map(({ outcome, message }) => [outcome, message]);
    expect(outcomes).toEqual([
      ["ok", null],
      ["ok", "The domain expires in 90 days."],
    ]);
    expect(asked).toEqual([LIST, url]);
    const missing = `${COM}missing.com`;
    answers[missing] = new Fault("timeout", "Timed out connecting.");
    await Promise.all([check({ domain: "missing.com" }), check({ domain: "missing.com" })]);
    expect(asked.filter((each) => each === missing)).toHaveLength(2);
  });

  test("the answer about a domain is shared by the names in it", async () => {
    const url = `${COM}example.com`;
    const { check, asked } = createRegistries({ [url]: expiring(TEST_START + 90 * DAY_MS) });
    for (const domain of ["www.example.com", "example.com", "api.example.com"]) {
      expect((await check({ domain })).outcome).toBe("ok");
    }
    expect(asked.slice(1)).toEqual([`${COM}www.example.com`, url, `${COM}api.example.com`]);
  });

  test("the answer about a domain is shared between monitors for almost an hour", async () => {
    const url = `${COM}example.com`;
    const { check, asked, clock } = createRegistries({ [url]: expiring(TEST_START + 90 * DAY_MS) });
    await check({ domain: "example.com" });
    await check({ domain: "example.com", days: 100 });
    expect(asked).toEqual([LIST, url]);
    await clock.advance(HOUR_MS);
    await check({ domain: "example.com" });
    expect(asked.filter((each) => each === url)).toHaveLength(2);
  });

  test("a registry that does not answer gives no data, or the earlier answer for a week", async () => {
    const url = `${COM}example.com`;
    const registries = createRegistries({ [url]: new Fault("timeout", "Timed out connecting.") });
    const { check, clock, answers } = registries;
    expect(await check({ domain: "example.com" })).toMatchObject({
      outcome: "unknown",
      message: "The registry cannot be asked: Timed out connecting.",
    });
    answers[url] = answerOf(503);
    expect((await check({ domain: "example.com" })).message).toBe(
      "The registry answered with status 503.",
    );
    answers[url] = expiring(TEST_START + 20 * DAY_MS);
    await check({ domain: "example.com" });
    answers[url] = answerOf(429);
    await clock.advance(2 * DAY_MS);
    expect(await check({ domain: "example.com" })).toMatchObject({
      outcome: "ok",
      message: "The domain expires in 18 days.",
    });
    await clock.advance(6 * DAY_MS);
    expect((await check({ domain: "example.com" })).outcome).toBe("unknown");
  });

  test("an answer without an expiry gives no data", async () => {
    const bodies: [unknown, string][] = [
      [{ events: [] }, "The registry does not tell when the domain expires."],
      [{ events: [null] }, "The registry does not tell when the domain expires."],
      [
        { events: [{ eventAction: "expiration", eventDate: "soon" }] },
        "The registry does not tell when the domain expires.",
      ],
      [
        { events: [{ eventAction: "expiration", eventDate: { toString: null } }] },
        "The registry does not tell when the domain expires.",
      ],
      ["no JSON", "The registry's answer could not be read."],
      [null, "The registry's answer could not be read."],
    ];
    for (const [body, message] of bodies) {
      const { check } = createRegistries({ [`${COM}example.com`]: answerOf(200, body) });
      const result = await check({ domain: "example.com" });
      expect(result).toEqual({ outcome: "unknown", latencyMs: null, message });
    }
  });

  test("redirects of a registry are followed, up to five", async () => {
    const first = `${COM}example.com`;
    const moved = (location: string) => answerOf(302, "", { location });
    const { check, asked } = createRegistries({
      [first]: moved("https://rdap.example.net/domain/example.com"),
      "https://rdap.example.net/domain/example.com": expiring(TEST_START + 90 * DAY_MS),
    });
    expect((await check({ domain: "example.com" })).outcome).toBe("ok");
    expect(asked).toHaveLength(3);
    const endless = createRegistries({ [first]: moved(first) });
    expect(await endless.check({ domain: "example.com" })).toMatchObject({
      outcome: "unknown",
      message: "The registry redirects more than 5 times.",
    });
  });

  test("the list of registries is fetched once a week, and names further ones", async () => {
    const services = [[["example"], ["http://old.test/", "https://rdap.test/base"]]];
    const list = { version: "1.0", publication: "2026-03-01T00:00:00Z", services };
    const { check, asked, clock, answers } = createRegistries({});
    const ask = () => check({ domain: "a.example" });
    expect(await ask()).toMatchObject({
      outcome: "unknown",
      message: "The registry does not tell by RDAP when domains expire.",
    });
    answers[LIST] = answerOf(200, list);
    answers["https://rdap.test/base/domain/a.example"] = expiring(TEST_START + 20.5 * DAY_MS);
    await clock.advance(HOUR_MS);
    expect(await ask()).toMatchObject({
      outcome: "ok",
      message: "The domain expires in 20 days.",
    });
    await clock.advance(6 * DAY_MS);
    await ask();
    expect(asked.filter((url) => url === LIST)).toHaveLength(2);
    await clock.advance(DAY_MS);
    await ask();
    expect(asked.filter((url) => url === LIST)).toHaveLength(3);
  });

  test("a check waits for a list that another one has asked for until its own deadline", async () => {
    const list = Promise.withResolvers<Answer>();
    const { check } = createRegistries({
      [LIST]: list.promise,
      [`${COM}late.com`]: new Fault("timeout", "Timed out connecting."),
    });
    const other = check({ domain: "example.com" });
    const deadline = new AbortController();
    const answer = check({ domain: "late.com" }, deadline.signal);
    deadline.abort();
    expect(await answer).toMatchObject({
      outcome: "unknown",
      message: "The registry cannot be asked: Timed out connecting.",
    });
    list.resolve(answerOf(503));
    expect(await other).toMatchObject({
      outcome: "failed",
      message: "The domain is not registered.",
    });
  });

  test("a domain is asked about again after a query with an internal error", async () => {
    const url = `${COM}example.com`;
    // Without headers, it cannot be read.
    const { check, answers } = createRegistries({ [url]: { status: 200 } as HttpAnswer });
    await expect(check({ domain: "example.com" })).rejects.toThrow(TypeError);
    answers[url] = expiring(TEST_START + 90 * DAY_MS);
    expect(await check({ domain: "example.com" })).toMatchObject({ outcome: "ok" });
  });

  test("a list of registries that is not one is ignored", async () => {
    const wrong = ["", "[]", "{}", '{"publication":"x","services":[[1]]}', '{"services":[]}'];
    for (const body of wrong) {
      const { check } = createRegistries({
        [LIST]: answerOf(200, body),
        [`${COM}example.com`]: expiring(TEST_START + 90 * DAY_MS),
      });
      expect((await check({ domain: "example.com" })).outcome).toBe("ok");
    }
  });
});

describe("the domain of a monitor", () => {
  const publication = "2026-03-01T00:00:00Z";
  const list = { publication, servers: { "https://rdap.test/": "com net" } };

  test("a domain whose registry has no server in a whole list is rejected by its top-level domain", () => {
    expect(validateDomain("example.com", list)).toEqual([]);
    expect(validateDomain("www.example.io", list)).toEqual([
      {
        pointer: "#/domain",
        detail: "is in .io, whose registry does not tell by RDAP when domains expire",
      },
    ]);
    expect(validateDomain("example.test", { servers: list.servers })).toEqual([]);
  });

  test("a domain is checked once an hour at most", async () => {
    await using api = await createMonitorApi();
    const domain = { type: "domain", name: "Domain", config: { domain: "example.com" } };
    const often = await api.post({ ...domain, interval_seconds: 3_599 });
    expectProblem(often, "validation_failed");
    expect(often.body.errors).toEqual([
      {
        pointer: "#/interval_seconds",
        detail: "must be a whole number from 3,600 to 31,536,000",
      },
    ]);
    const { body } = await api.post(domain);
    expect(body).toMatchObject({ interval_seconds: 86_400, retry_interval_seconds: 3_600 });
    const { status } = await api.patch(body.id, { interval_seconds: 60 });
    expect(status).toBe(422);
    expect((await api.patch(body.id, { interval_seconds: 3_600 })).status).toBe(200);
  });

  test("an address and a name without a dot are rejected", () => {
    for (const domain of ["localhost", "192.0.2.1", "2001:db8::1", "a b.com", "-", "com."]) {
      expect(validateDomain(domain, list)).toHaveLength(1);
    }
  });

  test("the list that IANA publishes is kept in a short form", () => {
    const services = [
      [
        ["com", "net"],
        ["http://old.test/", "https://rdap.test/base"],
      ],
      [["one"], ["https://rdap.nic.one/"]],
      [["org", "xn--p1ai"], ["https://rdap.test/base/"]],
      [["two"], ["https://rdap.nic.two/", "https://rdap.test/"]],
      [["three"], ["http://rdap.test/three/"]],
      [["four"], ["no url"]],
      [["five"], []],
    ];
    const short = parseRdapList(JSON.stringify({ version: "1.0", publication, services }));
    expect(short).toEqual({
      publication,
      servers: {
        "https://rdap.test/base/": "com net org xn--p1ai",
        "https://rdap.nic.one/": "one",
        "https://rdap.nic.two/": "two",
        "http://rdap.test/three/": "three",
      },
    });
    const bases = ["a.b.net", "example.two", "example.three", "example.four", "example.ne"];
    expect(bases.map((name) => short && rdapBaseOf(short, name))).toEqual([
      "https://rdap.test/base/",
      "https://rdap.nic.two/",
      "http://rdap.test/three/",
      undefined,
      undefined,
    ]);
  });

  test("the included list names each top-level domain once, and addresses of servers", () => {
    const list = includedRdapList();
    const names = Object.values(list.servers).flatMap((each) => each.split(" "));
    expect(names).toContain("com");
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(rdapBaseOf(list, `example.${name}`)).toMatch(/^https?:.*\/$/);
    // IANA has published more than a thousand since 2020.
    if (list.publication !== undefined) expect(names.length).toBeGreaterThan(1_000);
  });
});
