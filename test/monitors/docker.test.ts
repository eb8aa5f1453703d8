import { describe, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { schemaErrors } from "../../src/errors";
import { probeOf } from "../../src/features/monitors/probes";
import { checkContainer, type DockerState, startDocker } from "../support/docker";
import { answering, certificateText, httpAnswer, startRawServer } from "../support/raw-server";
import { temporaryFolder } from "../support/temporary-folder";

/** Checks a container in this state. */
async function checkState(state: DockerState) {
  using docker = startDocker(() => Response.json({ Id: "5f", State: state }));
  return await checkContainer({ ALLCLEAR_DOCKER_HOSTS: `local=unix://${docker.path}` });
}

const health = (Status: string, output = "") => ({
  Status: "running",
  Health: { Status, Log: [{ Output: "older" }, { Output: output }] },
});

describe("Docker checks", () => {
  test("a Docker check succeeds if the container is running and healthy, or has no health check", async () => {
    expect(await checkState({ Status: "running" })).toEqual({
      outcome: "ok",
      latencyMs: 0,
      message: null,
    });
    expect(await checkState(health("healthy"))).toMatchObject({ outcome: "ok", message: null });
    expect(await checkState({ Status: "running", Health: null })).toMatchObject({ outcome: "ok" });
  });

  test("a Docker check fails if the container is not running, and tells its state", async () => {
    const states: [state: DockerState, message: string][] = [
      [{ Status: "exited", ExitCode: 137 }, "The container has exited (status 137)."],
      [{ Status: "paused" }, "The container is paused."],
      [{ Status: "restarting" }, "The container is restarting."],
      [{ Status: "created" }, "The container was not started."],
      [{ Status: "removing" }, "The container is being removed."],
      [{ Status: "dead" }, "The container is dead."],
      [{ Status: "new in Docker 99" }, "The container is not running."],
      [health("starting"), "The container is starting: its health check has not succeeded yet."],
    ];
    for (const [state, message] of states) {
      expect(await checkState(state)).toMatchObject({ outcome: "failed", message });
    }
  });

  test("the message of an unhealthy container has the last line of its log, the public one has not", async () => {
    const result = await checkState(health("unhealthy", "first\nconnect: refused\u0007\n"));
    expect(result.message).toBe("The container is unhealthy: connect: refused");
    expect(result.publicMessage).toBe("The container is unhealthy.");
    const long = await checkState(health("unhealthy", "x".repeat(5_000)));
    expect(long.message).toHaveLength(300);
    expect((await checkState(health("unhealthy"))).message).toBe("The container is unhealthy.");
  });

  test("a Docker check sends a single GET for the container", async () => {
    using docker = startDocker(() => new Response("", { status: 404 }));
    const env = { ALLCLEAR_DOCKER_HOSTS: `local=unix://${docker.path}` };
    const result = await checkContainer(env, { container: "shop_web-1.2" });
    expect(result).toMatchObject({ outcome: "failed", message: "There is no such container." });
    expect(docker.requests).toEqual(["GET /containers/shop_web-1.2/json"]);
  });

  test("an answer of Docker that is no description of a container fails the check", async () => {
    const answers: [Response, string][] = [
      [new Response("", { status: 500 }), "Docker answered with status 500."],
      [new Response("no"), "Docker's answer could not be read."],
      [Response.json({ State: { Status: 1 } }), "Docker's answer could not be read."],
      [Response.json(null), "Docker's answer could not be read."],
      [new Response("x".repeat(1_000_000)), "Docker's answer could not be read."],
    ];
    for (const [answer, message] of answers) {
      using docker = startDocker(() => answer);
      const result = await checkContainer({ ALLCLEAR_DOCKER_HOSTS: `local=unix://${docker.path}` });
      expect(result).toMatchObject({ outcome: "failed", message });
    }
  });

  test("a Docker host that the operator has not defined, or that cannot be opened, gives no data", async () => {
    expect(await checkContainer({}, { host: "nas" })).toMatchObject({
      outcome: "unknown",
      message: "This server has no Docker host of this name.",
    });
    const missing = { ALLCLEAR_DOCKER_HOSTS: "local=unix:///nonexistent/docker.sock" };
    expect(await checkContainer(missing)).toMatchObject({
      outcome: "unknown",
      message: "There is no socket at the path of the Docker host.",
    });
  });

  test("a Docker host over TCP is asked at its address, which the policy of monitors judges", async () => {
    const body = JSON.stringify({ State: { Status: "running" } });
    await using server = await startRawServer(answering(httpAnswer(200, body)));
    const at = (host: string) => ({ ALLCLEAR_DOCKER_HOSTS: `local=tcp://${host}:${server.port}` });
    expect(await checkContainer(at("localhost"))).toMatchObject({ outcome: "ok" });
    const forbidden = await checkContainer(at("metadata.test"));
    expect(forbidden.outcome).toBe("failed");
    expect(forbidden.message).toContain("link-local");
    expect(server.connections()).toBe(1);
  });

  test("a Docker host with certificates is asked over TLS, and shown the operator's certificate", async () => {
    const [root, good] = [await certificateText("root"), await certificateText("good")];
    const options = {
      key: good,
      cert: good,
      ca: root,
      requestCert: true,
      rejectUnauthorized: true,
    };
    const server = createServer(options, (_request, response) => {
      response.end(JSON.stringify({ State: { Status: "running" } }));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    using folder = temporaryFolder();
    mkdirSync(join(folder.path, "local"));
    for (const [name, text] of [
      ["ca", root],
      ["cert", good],
      ["key", good],
    ] as const) {
      await Bun.write(join(folder.path, "local", `${name}.pem`), text);
    }
    const { port } = server.address() as AddressInfo;
    const env = {
      ALLCLEAR_DOCKER_HOSTS: `local=tcp://localhost:${port},other=tcp://localhost:${port}`,
      ALLCLEAR_DOCKER_TLS_DIR: folder.path,
    };
    const result = await checkContainer(env);
    expect(result).toMatchObject({ outcome: "ok", message: null });
    expect(result.certificate?.expiresAt).toBe(Date.parse("2099-01-01T00:00:00Z"));
    expect((await checkContainer(env, { host: "other" })).outcome).toBe("failed");
    await Bun.write(join(folder.path, "local", "key.pem"), "no key");
    expect(await checkContainer(env)).toMatchObject({
      outcome: "unknown",
      message: "This server cannot read the certificates of the Docker host.",
    });
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  test("a Docker check ends at its deadline, whatever the host does", async () => {
    const deadline = new AbortController();
    await using server = await startRawServer(
      (socket) => void socket.on("data", () => deadline.abort()),
    );
    const env = { ALLCLEAR_DOCKER_HOSTS: `local=tcp://localhost:${server.port}` };
    expect(await checkContainer(env, {}, deadline.signal)).toMatchObject({
      outcome: "failed",
      message: "Timed out waiting for the answer.",
    });
    await server.allClosed();
  });

  test("the container of a Docker monitor is a name or an id, and never a path", () => {
    const { config } = probeOf("docker");
    for (const container of ["web", "shop-web-1", "3f2504e04f89"]) {
      expect(schemaErrors(config, { host: "local", container })).toEqual([]);
    }
    for (const container of ["../images", "web/json", "-x", "", "a b", "web?x=1", "%2e"]) {
      expect(schemaErrors(config, { host: "local", container })).toHaveLength(1);
    }
  });
});
