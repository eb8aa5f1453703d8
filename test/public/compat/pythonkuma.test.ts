import { expect, test } from "bun:test";
import { createTestClock } from "../../support/clock";
import { serveApp } from "../../support/served-app";

/** Python that has the client `pythonkuma`, which Home Assistant uses. */
const PYTHON = process.env["PYTHONKUMA_PYTHON"] ?? "python3";

const SCRIPT = `
import asyncio, json, sys
from aiohttp import ClientSession
from pythonkuma import UptimeKuma, UptimeKumaAuthenticationException

async def main():
    async with ClientSession() as session:
        client = UptimeKuma(session, sys.argv[1], sys.argv[2])
        try:
            monitors = await client.metrics()
        except UptimeKumaAuthenticationException:
            print(json.dumps("rejected"))
            return
        print(json.dumps({"version": client.version.version, "monitors": [m.to_dict() for m in monitors.values()]}))

asyncio.run(main())
`;

const isInstalled =
  Bun.which(PYTHON) !== null &&
  Bun.spawnSync([PYTHON, "-c", "import pythonkuma"], { stderr: "ignore" }).exitCode === 0;
if (!isInstalled) console.warn(`Skipped: ${PYTHON} has no module pythonkuma (PYTHONKUMA_PYTHON).`);

async function readMonitors(origin: string, key: string) {
  const python = Bun.spawn([PYTHON, "-c", SCRIPT, `${origin}/compat/kuma`, key]);
  return JSON.parse(await new Response(python.stdout).text());
}

test.skipIf(!isInstalled)(
  "the client pythonkuma reads all monitors with their types, and is rejected with a wrong key",
  async () => {
    await using served = await serveApp({ clock: createTestClock() });
    const { app, origin } = served;
    const manage = await app.keyWith("manage:monitors");
    const monitors = [
      { type: "http", name: "Shop", config: { url: "https://shop.example/a" }, tags: ["team:ops"] },
      { type: "tcp", name: "Mail", config: { host: "mail.example", port: 25 } },
      { type: "push", name: "Backup", config: {} },
    ];
    for (const json of monitors) {
      const options = { method: "POST", key: manage, json };
      expect((await app.call("/api/v1/monitors", options)).status).toBe(201);
    }
    const read = await readMonitors(origin, await app.keyWith("read:analytics"));
    expect(read.version).toBe("2.5.3");
    expect(read.monitors).toMatchObject([
      { monitor_name: "Backup", monitor_type: "push", monitor_status: 2, monitor_url: null },
      {
        monitor_name: "Mail",
        monitor_type: "port",
        monitor_hostname: "mail.example",
        monitor_port: "25",
      },
      {
        monitor_name: "Shop",
        monitor_type: "http",
        monitor_url: "https://shop.example",
        monitor_hostname: null,
        monitor_response_time: -1,
        monitor_tags: ["team:ops"],
      },
    ]);
    expect(await readMonitors(origin, "wrong")).toBe("rejected");
  },
  300_000,
);
