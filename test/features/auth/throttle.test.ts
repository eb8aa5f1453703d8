import { describe, expect, test } from "bun:test";
import { createLoginThrottle } from "../../../src/features/auth/throttle";
import { type ClientAddress, parseClientAddress } from "../../../src/base/client-address";
import { client, openAuthInstallation } from "../../support/auth-installation";

const ADA = "ada@acme.test";
const HERE = client("203.0.113.7");
const ELSEWHERE = client("198.51.100.9");

/** `countsAttempts` is false for the delays of accounts alone. */
function setUp({ countsAttempts = true } = {}) {
  const { ctx, clock } = openAuthInstallation();
  const made = createLoginThrottle(ctx);
  /** Takes an attempt and asks for the account's wait, as signing in does. */
  const delayOf = (email: string, address: ClientAddress) =>
    (countsAttempts && made.takeAttempt(address)) || made.accountWaitSeconds(email, address);
  const throttle = { ...made, delayOf };
  /** Waits for each Retry-After and returns the total in seconds. */
  async function waitUntilVerified(email: string, address: ClientAddress): Promise<number> {
    let waited = 0;
    for (let wait = throttle.delayOf(email, address); wait > 0;) {
      await clock.advance(wait * 1_000);
      waited += wait;
      wait = throttle.delayOf(email, address);
    }
    return waited;
  }
  async function fail(times: number, email: string, address: ClientAddress): Promise<number[]> {
    const waits: number[] = [];
    for (let i = 0; i < times; i++) {
      waits.push(await waitUntilVerified(email, address));
      throttle.failed(email, address);
    }
    return waits;
  }
  return { clock, throttle, waitUntilVerified, fail };
}

describe("login delays of an account", () => {
  test("an account with 200 failures from one network waits 30 s there and not elsewhere", async () => {
    const { throttle, waitUntilVerified, fail } = setUp({ countsAttempts: false });
    const waits = await fail(200, ADA, HERE);
    expect(waits.slice(0, 3)).toEqual([0, 0, 0]);
    expect(Math.max(...waits)).toBe(30);
    expect(waits.slice(10).every((seconds) => seconds === 30)).toBe(true);

    expect(throttle.delayOf(ADA, ELSEWHERE)).toBe(0);
    expect(throttle.delayOf(ADA, HERE)).toBe(30);
    expect(await waitUntilVerified(ADA, HERE)).toBe(30);
  });

  test("an account accepts an attempt after exactly the returned seconds", async () => {
    const { clock, throttle, fail } = setUp();
    await fail(5, ADA, HERE);
    expect(throttle.delayOf(ADA, HERE)).toBe(4);
    await clock.advance(3_999);
    expect(throttle.delayOf(ADA, HERE)).toBe(1);
    await clock.advance(1);
    expect(throttle.delayOf(ADA, HERE)).toBe(0);
  });

  test("an account is delayed for its email in any case and with spaces", async () => {
    const { throttle, fail } = setUp();
    await fail(3, ADA, HERE);
    expect(throttle.delayOf(" ADA@acme.test ", HERE)).toBe(1);
    expect(throttle.delayOf("adam@acme.test", HERE)).toBe(0);
  });

  test("an unknown account is delayed like a known one", async () => {
    const known = setUp();
    const unknown = setUp();
    const waits = await known.fail(12, ADA, HERE);
    expect(waits.at(-1)).toBe(30);
    expect(await unknown.fail(12, "nobody@nowhere.test", HERE)).toEqual(waits);
  });

  test("rejected attempts do not prolong the delay of an account", async () => {
    const { clock, throttle, fail } = setUp();
    await fail(4, ADA, HERE);
    for (let i = 0; i < 3; i++) expect(throttle.delayOf(ADA, HERE)).toBe(2);
    await clock.advance(2_000);
    expect(throttle.delayOf(ADA, HERE)).toBe(0);
  });

  test("an account under constant failures from elsewhere waits at most 30 s after an own failure", async () => {
    const { clock, throttle } = setUp();
    throttle.failed(ADA, HERE);
    for (let i = 0; i < 30; i++) {
      throttle.failed(ADA, client(`198.51.100.${i}`));
      await clock.advance(1_000);
    }
    expect(throttle.delayOf(ADA, HERE)).toBe(0);
  });

  test("failures from many networks add up for each of them and not for others", () => {
    const { throttle } = setUp();
    for (let i = 0; i < 20; i++) throttle.failed(ADA, client(`198.51.100.${i}`));
    expect(throttle.delayOf(ADA, client("198.51.100.19"))).toBe(30);
    expect(throttle.delayOf(ADA, HERE)).toBe(0);
  });

  test("the failures of an account are forgotten 15 minutes after the last one", async () => {
    const { clock, throttle, fail } = setUp();
    await fail(8, ADA, HERE);
    await clock.advance(15 * 60_000 - 1);
    throttle.failed(ADA, HERE);
    expect(throttle.delayOf(ADA, HERE)).toBe(30);
    await clock.advance(15 * 60_000 + 1);
    throttle.failed(ADA, HERE);
    expect(throttle.delayOf(ADA, HERE)).toBe(0);
  });

  test("the failures of an account are forgotten after a successful sign-in", () => {
    const { throttle } = setUp();
    for (let i = 0; i < 6; i++) throttle.failed(ADA, HERE);
    expect(throttle.delayOf(ADA, HERE)).toBe(8);
    throttle.succeeded(ADA, ELSEWHERE);
    expect(throttle.delayOf(ADA, HERE)).toBe(0);
    throttle.failed(ADA, HERE);
    expect(throttle.delayOf(ADA, HERE)).toBe(0);
  });
});

describe("login attempts of an address", () => {
  test("an address has ten attempts a minute over all accounts, and the eleventh waits for the returned time", async () => {
    const { clock, throttle } = setUp();
    for (let i = 0; i < 10; i++) expect(throttle.delayOf(`user${i}@acme.test`, HERE)).toBe(0);
    const delay = throttle.delayOf("user10@acme.test", HERE);
    expect(delay).toBe(60);
    expect(throttle.delayOf("user10@acme.test", ELSEWHERE)).toBe(0);
    await clock.advance(delay * 1_000 - 1);
    expect(throttle.delayOf("user10@acme.test", HERE)).toBe(1);
    await clock.advance(1);
    for (let i = 0; i < 10; i++) expect(throttle.delayOf(`user${i}@acme.test`, HERE)).toBe(0);
    expect(throttle.delayOf("user11@acme.test", HERE)).toBe(60);
  });

  test("an attempt waits for the longer of the address's and the account's delay", async () => {
    const { clock, throttle, fail } = setUp();
    await fail(3, ADA, HERE);
    for (let i = 0; i < 6; i++) throttle.delayOf(`user${i}@acme.test`, HERE);
    // This takes the last of the ten, so a second, which the account asks for, would not be enough.
    const delay = throttle.delayOf(ADA, HERE);
    expect(delay).toBe(60);
    await clock.advance(delay * 1_000);
    expect(throttle.delayOf(ADA, HERE)).toBe(0);
  });

  test("addresses of one IPv6 /64 share their attempts", () => {
    const { throttle } = setUp();
    const one = parseClientAddress("2001:db8:1:2::1") as ClientAddress;
    const other = parseClientAddress("2001:db8:1:2:ffff::9") as ClientAddress;
    const neighbour = parseClientAddress("2001:db8:1:3::1") as ClientAddress;
    for (let i = 0; i < 10; i++) throttle.delayOf(`user${i}@acme.test`, other);
    expect(throttle.delayOf("last@acme.test", one)).toBe(60);
    expect(throttle.delayOf("last@acme.test", neighbour)).toBe(0);
  });

  test("addresses of one IPv6 /48 share failures and fifty attempts a minute", async () => {
    const { throttle, clock, fail } = setUp();
    const within = (site: string, i: number) =>
      parseClientAddress(`2001:db8:${site}:${i.toString(16)}::1`) as ClientAddress;
    await fail(5, ADA, within("1", 0));
    expect(throttle.delayOf(ADA, within("1", 1))).toBe(4);
    expect(throttle.delayOf(ADA, within("2", 1))).toBe(0);
    await clock.advance(60_000);
    for (let i = 0; i < 50; i++) {
      expect(throttle.delayOf(`user${i}@acme.test`, within("1", i))).toBe(0);
    }
    const delay = throttle.delayOf("last@acme.test", within("1", 60));
    expect(delay).toBeGreaterThan(0);
    expect(throttle.delayOf("last@acme.test", within("3", 60))).toBe(0);
    await clock.advance(delay * 1_000);
    expect(throttle.delayOf("last@acme.test", within("1", 61))).toBe(0);
  });

  test("refused attempts of an IPv6 /64 take none of the fifty of its /48", () => {
    const { throttle } = setUp();
    const [eager, neighbour] = ["2001:db8:1:2::1", "2001:db8:1:3::1"].map(
      (text) => parseClientAddress(text) as ClientAddress,
    ) as [ClientAddress, ClientAddress];
    for (let i = 0; i < 100; i++) throttle.takeAttempt(eager);
    expect(throttle.takeAttempt(eager)).toBe(60);
    for (let i = 0; i < 10; i++) expect(throttle.takeAttempt(neighbour)).toBe(0);
  });

  test("an address at its limit stays limited while ten thousand others come", () => {
    const { throttle } = setUp();
    for (let i = 0; i < 10; i++) throttle.delayOf(ADA, HERE);
    for (let i = 0; i < 10_500; i++) throttle.delayOf(ADA, client(`10.0.${i >> 8}.${i & 255}`));
    expect(throttle.delayOf(ADA, HERE)).toBe(60);
  });

  test("addresses of an IPv6 /48 share one rank until one has signed in", () => {
    const { throttle } = setUp();
    const one = parseClientAddress("2001:db8:1:2::1") as ClientAddress;
    const neighbour = parseClientAddress("2001:db8:1:3::1") as ClientAddress;
    throttle.takeAttempt(one);
    const rank = (address: ClientAddress) => throttle.turnOf(address).rank();
    expect(throttle.turnOf(one).source).toBe(throttle.turnOf(neighbour).source);
    expect(rank(one)).toBe(rank(neighbour));
    expect(rank(one)).toBeGreaterThan(rank(HERE));
    throttle.succeeded(ADA, one);
    expect(rank(one)).toBeLessThan(rank(HERE));
    expect(rank(neighbour)).toBeGreaterThan(rank(HERE));
    expect(throttle.turnOf(one).source).not.toBe(throttle.turnOf(neighbour).source);
  });
});
