import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import {
  createInstallation,
  executable,
  holds,
  type Installation,
  PROCESS_TEST_MS,
} from "../support/binary";

setDefaultTimeout(PROCESS_TEST_MS);

interface Facts {
  url: string;
  email: string;
  password: string;
  keys: Record<string, string>;
  folder: string;
}

/** Starts a demo with temporary files in a folder of the test, and reads what it printed. */
async function serveDemo(site: Installation, ...args: string[]) {
  const temporary = site.path("temporary");
  mkdirSync(temporary, { recursive: true });
  const server = await site.serve({
    command: "demo",
    args: ["--json", ...args],
    env: { TMPDIR: temporary },
  });
  // The facts follow the line that says that it is ready.
  while (!server.stdout().includes("\n}")) await server.fetch("/healthz");
  return { server, temporary, facts: JSON.parse(server.stdout()) as Facts };
}

/** Lists the remote addresses of the connections of a process that do not come to its own port. */
function outgoingConnections(pid: number, port: number): string[] {
  const inodes = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? [];
      } catch {
        return [];
      }
    }),
  );
  return ["tcp", "tcp6", "udp", "udp6"].flatMap((table) => {
    const [, ...rows] = readFileSync(`/proc/${pid}/net/${table}`, "utf8").trim().split("\n");
    return rows.flatMap((row) => {
      const [, local = "", remote = "", , , , , , , inode = ""] = row.trim().split(/\s+/);
      const isOwn = Number.parseInt(local.split(":")[1] ?? "", 16) === port;
      return inodes.has(inode) && !isOwn ? [remote] : [];
    });
  });
}

describe("allclear demo", () => {
  test("the demo serves its page and signs its owner in, and each key works for its scope only", async () => {
    await using site = await createInstallation();
    const { server, facts } = await serveDemo(site);
    const page = await (await server.fetch("/")).text();
    expect(page).toContain("Meridian");
    expect(page).toContain('<aside class="demo-strip"');
    expect((await server.fetch("/status/meridian-internal")).status).toBe(404);

    const { email, password } = facts;
    const signIn = (given: string) =>
      server.fetch("/admin/sign-in", {
        method: "POST",
        headers: { origin: server.url },
        body: new URLSearchParams({ email, password: given }),
      });
    expect((await signIn("a wrong password")).status).not.toBe(303);
    const entered = await signIn(password);
    expect(entered.status).toBe(303);
    const cookie = (entered.headers.get("set-cookie") ?? "").split(";", 1)[0] ?? "";
    for (const path of [
      "/admin",
      "/admin/monitors",
      "/admin/settings/webhooks",
      "/admin/settings/keys",
    ]) {
      const screen = await server.fetch(path, { headers: { cookie } });
      expect([path, screen.status]).toEqual([path, 200]);
      expect(await screen.text()).toContain('<aside class="demo-strip"');
    }

    const reads: Record<string, string> = {
      "read:status": "/api/v1/incidents",
      "manage:monitors": "/api/v1/monitors",
      "manage:webhooks": "/api/v1/webhooks",
      "read:analytics": "/api/v1/analytics/uptime",
    };
    for (const [scope, key] of Object.entries(facts.keys)) {
      for (const [needed, path] of Object.entries(reads)) {
        const { status } = await server.fetch(path, { key });
        expect([scope, path, status]).toEqual([scope, path, scope === needed ? 200 : 403]);
      }
    }
    expect(Object.keys(facts.keys)).toHaveLength(7);
    expect(await server.stop()).toBe(0);
  });

  test("the demo makes no connection, also not for a monitor and a webhook that a visitor creates", async () => {
    await using site = await createInstallation();
    let reached = 0;
    using target = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: () => new Response(`${(reached += 1)}`),
    });
    const { server, facts } = await serveDemo(site);
    const url = target.url.href;
    const post = async (scope: string, path: string, body?: object) => {
      const answer = await server.fetch(`/api/v1/${path}`, {
        key: facts.keys[scope] ?? "",
        method: "POST",
        headers: { "content-type": "application/json" },
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      return (await answer.json()) as Record<string, unknown>;
    };
    const own = { type: "http", name: "Own", config: { url } };
    const monitor = await post("manage:monitors", "monitors", own);
    const check = await post("manage:monitors", `monitors/${monitor["id"]}/check`);
    expect(check).toMatchObject({ outcome: "ok" });
    const receiver = { url: "https://receiver.example/own", description: "Own" };
    const webhook = await post("manage:webhooks", "webhooks", receiver);
    const test = await post("manage:webhooks", `webhooks/${webhook["id"]}/test`);
    const delivered = `/api/v1/webhooks/${webhook["id"]}/deliveries/${test["id"]}`;
    const key = facts.keys["manage:webhooks"] ?? "";
    const isDelivered = async () =>
      ((await (await server.fetch(delivered, { key })).json()) as { status: string }).status ===
      "delivered";
    expect(await holds(isDelivered)).toBe(true);
    expect(reached).toBe(0);
    expect(outgoingConnections(server.pid, server.port)).toEqual([]);
    expect(await server.stop()).toBe(0);
  });

  test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)(
    "after %s the process ends with 0 and the temporary folder is gone",
    async (signal) => {
      await using site = await createInstallation();
      const { server, temporary, facts } = await serveDemo(site);
      expect(readdirSync(temporary)).toHaveLength(1);
      expect(existsSync(join(facts.folder, "allclear.db"))).toBe(true);
      // A terminal and the program that runs the demo may both send it.
      server.signal(signal);
      server.signal(signal);
      expect(await server.exited).toBe(0);
      expect(readdirSync(temporary)).toEqual([]);
    },
  );

  test("a port in use ends the demo with a sentence and leaves no data", async () => {
    await using site = await createInstallation();
    using other = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
    const temporary = site.path("temporary");
    mkdirSync(temporary);
    const outcome = await site.run(["demo", "--listen", `127.0.0.1:${other.port}`], {
      env: { TMPDIR: temporary },
    });
    expect(outcome.exitCode).toBe(1);
    expect(outcome.stderr).toContain("is in use by another program");
    expect(readdirSync(temporary)).toEqual([]);

    const kept = site.path("kept");
    const taken = ["demo", "--listen", `127.0.0.1:${other.port}`, "--keep", kept];
    expect((await site.run(taken)).exitCode).toBe(1);
    expect(readdirSync(kept)).toEqual([]);
    const nowhere = await site.run(["demo"], { env: { TMPDIR: site.path("missing") } });
    expect([nowhere.exitCode, nowhere.stderr]).toEqual([
      1,
      `A temporary folder cannot be created in ${site.path("missing")} (ENOENT). Name one with --keep or TMPDIR.\n`,
    ]);
  });

  test("a demo whose sign-in cannot be printed ends and leaves no data", async () => {
    await using site = await createInstallation();
    const temporary = site.path("temporary");
    mkdirSync(temporary);
    const child = Bun.spawn([await executable(), "demo", "--json", "--listen", "127.0.0.1:0"], {
      env: { TMPDIR: temporary },
      stdin: "ignore",
      stdout: Bun.file("/dev/full"),
      stderr: "ignore",
      timeout: PROCESS_TEST_MS,
    });
    expect(await child.exited).toBe(1);
    expect(readdirSync(temporary)).toEqual([]);
  });

  test("of two demos that start at once with one directory, one runs and keeps its data", async () => {
    await using site = await createInstallation();
    const kept = site.path("kept");
    const start = () => serveDemo(site, "--keep", kept).catch(() => undefined);
    const outcomes = await Promise.all([start(), start()]);
    const running = outcomes.filter((one) => one !== undefined);
    expect(running).toHaveLength(1);
    for (const { server } of running) expect(await server.stop()).toBe(0);
    expect(readdirSync(kept)).toContain("allclear.db");
  });

  test("--keep keeps the data, and a directory that is not empty is refused and unchanged", async () => {
    await using site = await createInstallation();
    const kept = site.path("kept");
    const { server, temporary, facts } = await serveDemo(site, "--keep", kept);
    expect(facts.folder).toBe(kept);
    expect(readdirSync(temporary)).toEqual([]);
    expect(await server.stop()).toBe(0);
    const files = readdirSync(kept);
    expect(files).toContain("allclear.db");

    const again = await site.run(["demo", "--keep", kept]);
    expect([again.exitCode, again.stderr]).toEqual([
      1,
      `${kept} is not empty. A demo needs an empty or a new directory.\n`,
    ]);
    expect(readdirSync(kept)).toEqual(files);
    const unnamed = await site.run(["demo", "--keep="]);
    expect([unnamed.exitCode, unnamed.stderr.split("\n", 1)[0]]).toEqual([
      2,
      "--keep must name a directory.",
    ]);
    await Bun.write(site.path("file"), "");
    const file = await site.run(["demo", "--keep", site.path("file")]);
    expect([file.exitCode, file.stderr]).toEqual([1, `${site.path("file")} is not a directory.\n`]);
  });

  test("equal seeds give equal incidents, and a seed that is no number is refused", async () => {
    await using site = await createInstallation();
    const incidentsOf = async (seed: string) => {
      const { server, facts } = await serveDemo(site, "--seed", seed);
      const key = facts.keys["read:status"] ?? "";
      const answer = await (await server.fetch("/api/v1/incidents?limit=100", { key })).json();
      await server.stop();
      const { data } = answer as { data: { id: string; source: string; started_at: string }[] };
      return data.map(({ id, started_at: at }) => [id, at]);
    };
    const first = await incidentsOf("5");
    expect(first).toHaveLength(24);
    expect(await incidentsOf("5")).toEqual(first);
    expect(await incidentsOf("6")).not.toEqual(first);
    const wrong = await site.run(["demo", "--seed", "five"]);
    expect([wrong.exitCode, wrong.stderr.split("\n", 1)[0]]).toEqual([
      2,
      '--seed must be a whole number from 0 to 4294967295; it is "five".',
    ]);
  });
});
