import { describe, expect, test } from "bun:test";
import type { Contact } from "../../../../src/egress/model";
import { canSendEcho } from "../../../../src/egress/echo";
import { probeOf } from "../../../../src/features/monitors/probes";
import { pingArguments, roundTripMs } from "../../../../src/features/monitors/probes/ping";
import { settle } from "../../../support/clock";
import { usePingProgram } from "../../../support/ping-program";
import { probe } from "../../../support/probe";

const ANSWERED = 'echo "64 bytes from $LAST: icmp_seq=1 ttl=64 time=12.6 ms"';

describe("ping checks", () => {
  test("a ping check passes the resolved and checked address to the program", async () => {
    using ping = usePingProgram(ANSWERED);
    const names = { "gateway.test": [["192.0.2.7", "192.0.2.8"]] };
    const result = await probe("ping", { host: "gateway.test" }, { names });
    expect(result).toEqual({ outcome: "ok", latencyMs: 13, message: null });
    expect(ping.calls()).toEqual(["-n -c 1 192.0.2.7"]);
  });

  test("a ping check fails if the host does not answer", async () => {
    using ping = usePingProgram("exit 1");
    const result = await probe("ping", { host: "127.0.0.1" });
    expect(result).toEqual({
      outcome: "failed",
      latencyMs: null,
      message: "The host did not answer.",
    });
    expect(ping.calls()).toHaveLength(1);
  });

  test("a ping check ends the program at its deadline", async () => {
    using ping = usePingProgram("exec sleep 60");
    const deadline = new AbortController();
    const checking = probe("ping", { host: "127.0.0.1" }, { context: { signal: deadline.signal } });
    while (ping.calls().length === 0) await settle();
    deadline.abort();
    expect(await checking).toMatchObject({
      outcome: "failed",
      message: "The host did not answer.",
    });
  });

  test("a ping check explains missing permissions and failures of the program", async () => {
    {
      using _ping = usePingProgram('echo "ping: socket: Operation not permitted" >&2; exit 2');
      const { message } = await probe("ping", { host: "127.0.0.1" });
      expect(message).toContain("CAP_NET_RAW");
    }
    using _ping = usePingProgram('echo "ping: whatever $SECRET" >&2; exit 2');
    const { message } = await probe("ping", { host: "127.0.0.1" });
    expect(message).toBe("The program ping failed (exit status 2).");
  });

  test("a host that does not answer the program is silent, and a program that fails says nothing of it", async () => {
    for (const [script, silence] of [
      ["exit 1", "timeout"],
      ['echo "ping: connect: Network is unreachable" >&2; exit 2', "timeout"],
      ['echo "ping: whatever" >&2; exit 2', undefined],
      ['echo "ping: socket: Operation not permitted" >&2; exit 2', undefined],
    ] as const) {
      using _ping = usePingProgram(script);
      const contact: Contact = { addresses: [] };
      await probe("ping", { host: "127.0.0.1" }, { context: { contact } });
      expect(contact.silence).toBe(silence);
    }
  });

  test("a ping check does not run for a blocked address", async () => {
    using ping = usePingProgram(ANSWERED);
    const names = { "metadata.test": [["169.254.169.254"]] };
    const result = await probe("ping", { host: "metadata.test" }, { names });
    expect(result.outcome).toBe("failed");
    expect(ping.calls()).toEqual([]);
  });

  test("a ping check does not pass on secrets of the environment", async () => {
    process.env["ALLCLEAR_TEST_SECRET"] = "hidden";
    try {
      using ping = usePingProgram('env | grep -c SECRET >> "$(dirname "$0")/calls"; exit 1');
      await probe("ping", { host: "127.0.0.1" });
      expect(ping.calls()).toEqual(["-n -c 1 127.0.0.1", "0"]);
    } finally {
      delete process.env["ALLCLEAR_TEST_SECRET"];
    }
  });
});

describe("hosts of ping monitors", () => {
  test("a host that looks like options, commands or several arguments is rejected", () => {
    using _ping = usePingProgram(ANSWERED);
    const { validate } = probeOf("ping");
    expect(validate({ host: "gateway.test" })).toEqual([]);
    for (const host of ["-f", "--help", "a b", "a;id", "$(id)", "`id`", "a|b", "a/b", "-c1 x"]) {
      expect(validate({ host }), host).toHaveLength(1);
    }
  });

  test.skipIf(canSendEcho())(
    "findMissingProgram names the program ping while it is not installed",
    () => {
      const { findMissingProgram } = probeOf("ping");
      {
        using _none = usePingProgram(undefined);
        expect(findMissingProgram?.()).toBe("ping");
      }
      using _ping = usePingProgram(ANSWERED);
      expect(findMissingProgram?.()).toBeUndefined();
    },
  );
});

test("pingArguments returns the arguments for one echo request on each platform", () => {
  expect(pingArguments("linux", "::1")).toEqual(["-n", "-c", "1", "::1"]);
  expect(pingArguments("darwin", "192.0.2.7")).toEqual(["-n", "-c", "1", "192.0.2.7"]);
  expect(pingArguments("win32", "192.0.2.7")).toEqual(["-n", "1", "192.0.2.7"]);
});

test("roundTripMs reads the output of iputils, BusyBox and Windows", () => {
  expect(roundTripMs("64 bytes from 192.0.2.7: icmp_seq=1 ttl=64 time=0.043 ms")).toBe(0);
  expect(roundTripMs("64 bytes from 192.0.2.7: seq=0 ttl=64 time=12.5 ms")).toBe(13);
  expect(roundTripMs("Reply from 192.0.2.7: bytes=32 time=8ms TTL=117")).toBe(8);
  expect(roundTripMs("Reply from 192.0.2.7: bytes=32 time<1ms TTL=128")).toBe(1);
  expect(roundTripMs("1 packets transmitted, 1 received")).toBeUndefined();
});
