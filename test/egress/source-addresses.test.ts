import { describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { join } from "node:path";

const CONNECT_TO = join(import.meta.dir, "../support/processes/connect-to.ts");
const PORT = "4000";
const CLOSED_PORT = "4001";

/** Runs `connect-to.ts` in a network of its own that has only the loopback. Throws what it wrote as an error. */
function inOwnNetwork(setUp: string, ...args: string[]): unknown {
  const script = `ip link set lo up && ${setUp} && exec "$0" "$@"`;
  const command = ["-rn", "sh", "-c", script, process.execPath, CONNECT_TO, ...args];
  const { status, stdout, stderr, error } = spawnSync("unshare", command, { encoding: "utf8" });
  if (status !== 0) throw new Error(error?.message ?? stderr);
  return JSON.parse(stdout);
}

const WITHOUT_IPV6 = "echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6";
const WITH_FEW_PORTS = 'echo "50000 50003" > /proc/sys/net/ipv4/ip_local_port_range';

function hasOwnNetworks(): boolean {
  const { status } = spawnSync("unshare", [
    "-rn",
    "sh",
    "-c",
    `ip link set lo up && ${WITHOUT_IPV6}`,
  ]);
  if (status !== 0) console.warn("SKIPPED: the tests of source addresses; no network of its own");
  return status === 0;
}

const WAYS = ["open", "openPlain"];

describe.skipIf(!hasOwnNetworks()).each(WAYS)("a connection by %s without IPv6", (way) => {
  test("a connection that IPv4 refuses is reported as refused, even if IPv6 cannot be tried", () => {
    const addresses = ["127.0.0.1", "2001:db8::1"];
    for (const order of [addresses, addresses.toReversed()]) {
      expect(inOwnNetwork(WITHOUT_IPV6, way, "1", CLOSED_PORT, ...order)).toEqual({
        kind: "connect",
        message: "The connection was refused.",
      });
    }
  });

  test("a connection to an IPv6-only host is a fault of the target, not of this server", () => {
    expect(inOwnNetwork(WITHOUT_IPV6, way, "1", PORT, "2001:db8::1")).toEqual({
      kind: "connect",
      message: "This machine has no IPv6 address to connect from.",
    });
  });

  test("a connection to an IPv4 address is opened", () => {
    expect(inOwnNetwork(WITHOUT_IPV6, way, "1", PORT, "127.0.0.1")).toBe("connected");
  });
});

describe.skipIf(!hasOwnNetworks()).each(WAYS)("a connection by %s without free ports", (way) => {
  test("a connection without a free port is a fault of this server", () => {
    expect(inOwnNetwork(WITH_FEW_PORTS, way, "8", PORT, "127.0.0.1")).toEqual({
      kind: "local",
      message: "This machine has no port left to connect from.",
    });
  });
});
