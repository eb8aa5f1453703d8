import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInstallation, PROCESS_TEST_MS } from "../support/binary";

setDefaultTimeout(PROCESS_TEST_MS);

describe("files in the working directory", () => {
  test("an .env in the working directory sets no option", async () => {
    await using site = await createInstallation();
    const wrong = "ALLCLEAR_LOG_LEVEL=loud\nALLCLEAR_PUBLIC_RATE_LIMIT=3\n";
    for (const name of [".env", ".env.local", ".env.production"]) {
      await Bun.write(join(site.workDir, name), wrong);
    }
    const server = await site.serve();
    const answer = await server.fetch("/");
    expect(answer.headers.get("x-ratelimit-limit")).toBe("100");
    // The same setting counts where it is really in the environment.
    const real = await site.run(["key", "list"], { env: { ALLCLEAR_LOG_LEVEL: "loud" } });
    expect(real.exitCode).toBe(2);
  });

  test("a bunfig.toml in the working directory runs nothing", async () => {
    await using site = await createInstallation();
    const trace = site.path("preloaded");
    const preload = `require("node:fs").writeFileSync(${JSON.stringify(trace)}, "");`;
    await Bun.write(join(site.workDir, "preload.js"), preload);
    await Bun.write(join(site.workDir, "bunfig.toml"), 'preload = ["./preload.js"]\n');
    const server = await site.serve();
    expect((await server.fetch("/readyz")).status).toBe(200);
    expect((await site.run(["key", "list"])).exitCode).toBe(0);
    expect(existsSync(trace)).toBe(false);
  });

  test("NODE_ENV adds no details to errors", async () => {
    await using site = await createInstallation();
    const server = await site.serve({ cwd: "/", env: { NODE_ENV: "development" } });
    const answer = await server.fetch("/api/v1/nothing");
    const body = (await answer.json()) as Record<string, unknown>;
    expect(Object.keys(body).sort()).toEqual([
      "code",
      "detail",
      "instance",
      "status",
      "title",
      "type",
    ]);
  });
});

describe("allclear healthcheck", () => {
  test("healthcheck exits with 0 if the server is ready and with 1 without one, and uses no proxy", async () => {
    await using site = await createInstallation();
    let requests = 0;
    using proxy = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch() {
        requests += 1;
        return new Response("a proxy", { status: 200 });
      },
    });
    const address = `http://127.0.0.1:${proxy.port}`;
    const env = { HTTP_PROXY: address, http_proxy: address, ALL_PROXY: address };
    const server = await site.serve();
    const check = () => site.run(["healthcheck", "--listen", `127.0.0.1:${server.port}`], { env });
    expect(await check()).toEqual({ exitCode: 0, stdout: "", stderr: "" });
    expect(await server.stop()).toBe(0);
    const down = await check();
    expect(down.exitCode).toBe(1);
    expect(down.stderr).toContain(`No server at 127.0.0.1:${server.port}`);
    expect(requests).toBe(0);
  });

  test("healthcheck finds a server that listens on every address", async () => {
    await using site = await createInstallation();
    const server = await site.serve({ env: { ALLCLEAR_LISTEN: "0.0.0.0:0" } });
    const { exitCode } = await site.run(["healthcheck", "--listen", `0.0.0.0:${server.port}`]);
    expect(exitCode).toBe(0);
  });
});
