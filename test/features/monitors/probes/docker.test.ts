import { describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TlsOptions } from "node:tls";
import { schemaErrors } from "../../../../src/base/validation";
import { probeOf } from "../../../../src/features/monitors/probes";
import { checkContainer, type DockerState, startDocker } from "../../../support/docker";
import {
  answering,
  certificateText,
  httpAnswer,
  type RawServer,
  startRawServer,
  startTlsServer,
} from "../../../support/raw-server";
import { temporaryFolder } from "../../../support/temporary-folder";

/** Checks a container in this state. */
async function checkState(state: DockerState) {
  using docker = startDocker(() => Response.json({ Id: "5f", State: state }));
  return await checkContainer({ ALLCLEAR_DOCKER_HOSTS: `local=unix://${docker.path}` });
}

/** Starts a Docker host with TLS, whose container is running. */
function startTlsDocker(options: TlsOptions = {}): Promise<RawServer> {
  const strict = { ...options, rejectUnauthorized: options.requestCert === true };
  return startTlsServer("good", answering(httpAnswer(200, RUNNING)), strict);
}

/** Creates a directory of certificates in which the host `local` has these files; undefined for none. */
function tlsFiles(texts: Readonly<Record<string, string>> | undefined) {
  const folder = temporaryFolder();
  const own = join(folder.path, "local");
  if (texts) mkdirSync(own);
  for (const [name, text] of Object.entries(texts ?? {})) writeFileSync(join(own, name), text);
  return {
    of: ({ port }: { port: number }) => ({
      ALLCLEAR_DOCKER_HOSTS: `local=tcp://localhost:${port}`,
      ALLCLEAR_DOCKER_TLS_DIR: folder.path,
    }),
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

const RUNNING = JSON.stringify({ State: { Status: "running" } });

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
      [{ Status: "constructor" }, "The container is not running."],
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
      [new Response("x".repeat(1_000_000)), "Docker's answer is longer than a check reads."],
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
      message: "ALLCLEAR_DOCKER_HOSTS has no host of this name.",
    });
    const missing = { ALLCLEAR_DOCKER_HOSTS: "local=unix:///nonexistent/docker.sock" };
    expect(await checkContainer(missing)).toMatchObject({
      outcome: "unknown",
      message: "There is no socket at the path of the Docker host.",
    });
  });

  test("a Docker host over TCP is asked at its address, which the policy of monitors judges", async () => {
    await using server = await startRawServer(answering(httpAnswer(200, RUNNING)));
    const at = (host: string) => ({ ALLCLEAR_DOCKER_HOSTS: `local=tcp://${host}:${server.port}` });
    expect(await checkContainer(at("localhost"))).toMatchObject({ outcome: "ok" });
    const forbidden = await checkContainer(at("metadata.test"));
    expect(forbidden.outcome).toBe("failed");
    expect(forbidden.message).toContain("link-local");
    expect(server.connections()).toBe(1);
  });

  test("a redirect of a Docker host is not followed", async () => {
    await using target = await startRawServer(() => {});
    const Location = `http://localhost:${target.port}/containers/web/json`;
    await using server = await startRawServer(answering(httpAnswer(302, "", { Location })));
    const env = { ALLCLEAR_DOCKER_HOSTS: `local=tcp://localhost:${server.port}` };
    expect(await checkContainer(env)).toMatchObject({
      outcome: "failed",
      message: "Docker answered with status 302.",
    });
    expect(target.connections()).toBe(0);
  });

  test("a Docker host with certificates is asked over TLS, and shown the operator's certificate", async () => {
    const [root, good] = [await certificateText("root"), await certificateText("good")];
    await using server = await startTlsDocker({ requestCert: true, ca: root });
    using files = tlsFiles({ "ca.pem": root, "cert.pem": good, "key.pem": good });
    const result = await checkContainer(files.of(server));
    expect(result).toMatchObject({ outcome: "ok", message: null });
    expect(result.certificate?.expiresAt).toBe(Date.parse("2099-01-01T00:00:00Z"));
  });

  test("a Docker host with ca.pem alone is asked over TLS without a client certificate", async () => {
    const root = await certificateText("root");
    using files = tlsFiles({ "ca.pem": root });
    await using open = await startTlsDocker();
    expect(await checkContainer(files.of(open))).toMatchObject({ outcome: "ok", message: null });
    await using strict = await startTlsDocker({ requestCert: true, ca: root });
    expect(await checkContainer(files.of(strict))).toMatchObject({
      outcome: "failed",
      message: "The server requires a client certificate.",
    });
  });

  test("a Docker host's certificate must be one of its own authority, whatever else is trusted", async () => {
    using files = tlsFiles({ "ca.pem": await certificateText("self") });
    await using server = await startTlsDocker();
    const { outcome, message } = await checkContainer(files.of(server));
    expect(outcome).toBe("failed");
    expect(message).toStartWith("The certificate's issuer is not known");
  });

  test("a Docker host with an incomplete directory of certificates gets no request", async () => {
    const [root, good] = [await certificateText("root"), await certificateText("good")];
    const lacking = (what: string) =>
      `ALLCLEAR_DOCKER_TLS_DIR has no ${what} for this Docker host.`;
    const unreadable = "This server cannot read the certificates of the Docker host.";
    const directories: [files: Record<string, string> | undefined, message: string][] = [
      [undefined, lacking("subdirectory")],
      [{}, lacking("ca.pem")],
      [{ "cert.pem": good, "key.pem": good }, lacking("ca.pem")],
      [{ "ca.pem": " \n" }, lacking("ca.pem")],
      [{ "ca.pem": root, "cert.pem": good }, lacking("key.pem beside cert.pem")],
      [{ "ca.pem": root, "key.pem": good }, lacking("cert.pem beside key.pem")],
      [{ "ca.pem": "no certificate" }, unreadable],
      [{ "ca.pem": root, "cert.pem": good, "key.pem": "no key" }, unreadable],
    ];
    await using server = await startRawServer(answering(httpAnswer(200, RUNNING)));
    for (const [texts, message] of directories) {
      using files = tlsFiles(texts);
      expect(await checkContainer(files.of(server))).toMatchObject({ outcome: "unknown", message });
    }
    expect(server.connections()).toBe(0);
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
