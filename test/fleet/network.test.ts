import { describe, expect, test } from "bun:test";
import { existsSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../support/fleet/eventually";
import { findNetworkProblem, type Machine, startNetwork } from "../support/fleet/network";
import { temporaryFolder } from "../support/temporary-folder";

const NAME = "a network of tests";
const problem = findNetworkProblem();
if (problem !== undefined) console.warn(`SKIPPED: “${NAME}”. ${problem}`);

/** Longest wait of a request, in ms. */
const LIMIT_MS = 500;

/** Sends a request from a machine. Resolves to the body, or to an empty string if there is no answer. */
async function fetchAt(machine: Machine, url: string): Promise<string> {
  const code = `fetch("${url}", { signal: AbortSignal.timeout(${LIMIT_MS}) })
    .then(async (answer) => console.log(await answer.text()), () => {})`;
  const child = Bun.spawn(machine.commandOf([process.execPath, "-e", code]), { stdout: "pipe" });
  return (await new Response(child.stdout).text()).trim();
}

describe.skipIf(problem !== undefined)(NAME, () => {
  test("leads a machine to published ports and to other machines until its link is cut, and ends with its processes", async () => {
    using server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("here") });
    using folder = temporaryFolder();
    const socket = join(folder.path, "socket");
    using local = Bun.serve({ unix: socket, fetch: () => new Response("local") });
    const port = Number(server.port);
    let namespace = "";
    let pid = "";
    {
      await using network = await startNetwork();
      await network.publish(port);
      const [one, other] = [await network.addMachine(), await network.addMachine()];
      const published = `http://${network.address}:${port}/`;
      expect(await fetchAt(one, published)).toBe("here");
      // The loopback of a machine is its own.
      expect(await fetchAt(one, `http://127.0.0.1:${port}/`)).toBe("");
      await one.reach(socket, port);
      expect(await fetchAt(one, `http://127.0.0.1:${port}/`)).toBe("local");
      expect(await fetchAt(other, `http://127.0.0.1:${port}/`)).toBe("");
      const answer = await fetch("http://machine/", { unix: await one.open(port) });
      expect(await answer.text()).toBe("local");

      await one.cut();
      expect(await fetchAt(one, published)).toBe("");
      expect(await fetchAt(other, published)).toBe("here");
      await one.mend();
      await eventually("the link is back", async () => (await fetchAt(one, published)) === "here");

      const [, path = ""] = /--net=(\S+)/.exec(one.commandOf([]).join(" ")) ?? [];
      namespace = readlinkSync(path);
      pid = path.split("/")[2] ?? "";
      expect(namespace).not.toBe(readlinkSync("/proc/self/ns/net"));
    }
    expect(existsSync(`/proc/${pid}`)).toBe(false);
    expect(Bun.spawnSync(["lsns", "-t", "net", "-n", "-o", "NS"]).stdout.toString()).not.toContain(
      namespace.replace(/\D/g, ""),
    );
    expect(local.url).toBeDefined();
  }, 600_000);
});
