import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { createInstallation, PROCESS_TEST_MS } from "../support/binary";

setDefaultTimeout(2 * PROCESS_TEST_MS);

const PING_HOSTS = join(import.meta.dir, "../support/processes/ping-hosts.ts");

/** Gives all groups the permission, as Docker does, or none, as Debian does. */
const groups = (range: string) => `echo "${range}" > /proc/sys/net/ipv4/ping_group_range`;
const PERMITTED = groups("0 2147483647");
const FORBIDDEN = groups("1 0");
/** Network in which every packet is lost. */
const LOST = [
  "ip link add lost type veth peer name found",
  "ip address add 192.0.2.1/24 dev lost",
  "ip link set lost arp off up",
  "ip link set found up",
].join(" && ");

/** User of the image. */
const USER = 65_532;

/** Returns a script that runs its arguments as a user without rights. */
function scriptOf(setUp: string): string {
  const user = `exec setpriv --reuid=${USER} --regid=${USER} --clear-groups`;
  return `ip link set lo up && ${setUp} && ${user} "$@"`;
}

/** Runs a command in a network of its own that has the loopback alone, as a user without rights. */
function inOwnNetwork(setUp: string, ...command: string[]) {
  return spawnSync("unshare", ["--net", "sh", "-c", scriptOf(setUp), "sh", ...command], {
    encoding: "utf8",
  });
}

function ping(setUp: string, deadlineMs: number, ...hosts: string[]) {
  const { status, stdout, stderr, error } = inOwnNetwork(
    setUp,
    process.execPath,
    PING_HOSTS,
    String(deadlineMs),
    ...hosts,
  );
  if (status !== 0) throw new Error(error?.message ?? stderr);
  return JSON.parse(stdout) as { outcomes: unknown[]; cpuMs: number; left: number };
}

function hasOwnNetworks(): boolean {
  const { status } = inOwnNetwork(PERMITTED, process.execPath, "--version");
  if (status !== 0) console.warn("SKIPPED: the tests of echo requests; no network of its own");
  return status === 0;
}

describe.skipIf(!hasOwnNetworks())("echo requests without a program", () => {
  test("hosts of both families answer a process that is permitted to ask", () => {
    const { outcomes } = ping(PERMITTED, 10_000, "127.0.0.1", "::1", "::ffff:7f00:1");
    expect(outcomes).toEqual([
      { outcome: "answered", address: "127.0.0.1", latencyMs: expect.any(Number) },
      { outcome: "answered", address: "::1", latencyMs: expect.any(Number) },
      { outcome: "answered", address: "::ffff:7f00:1", latencyMs: expect.any(Number) },
    ]);
    for (const { latencyMs } of outcomes as { latencyMs: number }[]) {
      expect(latencyMs).toBeLessThan(1_000);
    }
  });

  test("400 hosts at the same time are told apart, and no socket is left", () => {
    const address = (index: number) => `127.0.${Math.floor(index / 200)}.${(index % 200) + 1}`;
    const answering = Array.from({ length: 200 }, (_, index) => address(index));
    const silent = Array.from({ length: 200 }, (_, index) => `192.0.2.${index + 2}`);
    const hosts = answering.flatMap((host, index) => [host, silent[index] ?? ""]);
    const { outcomes, left } = ping(`${LOST} && ${PERMITTED}`, 3_000, ...hosts);
    expect(outcomes).toEqual(
      hosts.map((host) => ({
        outcome: host.startsWith("127.") ? "answered" : "silent",
        address: host,
        latencyMs: expect.any(Number),
      })),
    );
    expect(left).toBe(0);
  });

  test("waiting takes little processor time", () => {
    const silent = Array.from({ length: 20 }, (_, index) => `192.0.2.${index + 2}`);
    const { outcomes, cpuMs } = ping(`${LOST} && ${PERMITTED}`, 5_000, ...silent);
    expect(outcomes).toHaveLength(20);
    expect(cpuMs).toBeLessThan(1_000);
  });

  test("a host without a route is a fault, and a blocked address gets no packet", () => {
    const { outcomes } = ping(PERMITTED, 10_000, "198.51.100.1", "169.254.169.254");
    expect(outcomes).toEqual([
      "connect: The echo request could not be sent to the host.",
      expect.stringMatching(/^refused: The host's address /),
    ]);
  });

  test.skipIf(Bun.which("tc") === null)(
    "a full queue of this server is no failure of the host",
    () => {
      const { outcomes, left } = ping(
        `tc qdisc add dev lo root pfifo limit 0 && ${PERMITTED}`,
        10_000,
        "127.0.0.1",
      );
      expect(outcomes).toEqual(["local: This server had no room to send the echo request."]);
      expect(left).toBe(0);
    },
  );

  test("a process that is not permitted says so", () => {
    const { outcomes } = ping(FORBIDDEN, 10_000, "127.0.0.1", "::1");
    expect(outcomes).toMatchObject([{ outcome: "unsupported" }, { outcome: "unsupported" }]);
  });

  test("the executable checks a ping monitor without the program, as it does in the image", async () => {
    await using site = await createInstallation({ userId: USER });
    const { value: key } = await site.createKey(["manage:monitors"]);
    // A copy that this user may read.
    const serve = [site.path("allclear"), "serve"];
    const server = Bun.spawn(
      ["unshare", "--net", "sh", "-c", scriptOf(PERMITTED), "sh", ...serve],
      {
        cwd: site.workDir,
        env: {
          // The tools of this script, and no `ping`.
          PATH: process.env.PATH ?? "",
          ALLCLEAR_DATA_DIR: site.dataDir,
          ALLCLEAR_LISTEN: "127.0.0.1:8080",
        },
        stdout: "ignore",
        stderr: "pipe",
      },
    );
    try {
      for await (const chunk of server.stderr) {
        if (Buffer.from(chunk).toString().includes("is ready.")) break;
      }
      const create = { type: "ping", name: "Loopback", config: { host: "127.0.0.1" } };
      const script = `
        const headers = { authorization: "Bearer ${key}", "content-type": "application/json" };
        const at = "http://127.0.0.1:8080/api/v1/monitors";
        const body = JSON.stringify(${JSON.stringify(create)});
        const { id } = await (await fetch(at, { method: "POST", headers, body })).json();
        console.log(await (await fetch(at + "/" + id + "/check", { method: "POST", headers })).text());`;
      const inside = ["--target", String(server.pid), "--net", process.execPath, "-e", script];
      const { stdout } = spawnSync("nsenter", inside, { encoding: "utf8" });
      expect(JSON.parse(stdout)).toMatchObject({ outcome: "ok" });
    } finally {
      server.kill("SIGKILL");
      await server.exited;
    }
  });
});
