/*
 * A real Docker daemon, with containers of an image that has nothing but busybox. It needs root, `dockerd` and a static
 * busybox (`docker.io` and `busybox-static` of Debian).
 */
import { join } from "node:path";
import { temporaryFolder } from "../temporary-folder";

const BUSYBOX = Bun.which("busybox");

/** True if this machine can run the daemon. */
export const hasDockerd =
  Bun.which("dockerd") !== null &&
  BUSYBOX !== null &&
  process.getuid?.() === 0 &&
  Bun.spawnSync(["sh", "-c", `! ldd ${BUSYBOX}`], { stdout: "ignore", stderr: "ignore" }).success;

interface Dockerd extends AsyncDisposable {
  path: string;
  /** Creates and starts a container that sleeps. */
  start(name: string, labels: Record<string, string>): Promise<void>;
  stop(name: string): Promise<void>;
  remove(name: string): Promise<void>;
}

/** Starts a daemon without a network of its own. */
export async function startDockerd(): Promise<Dockerd> {
  const folder = temporaryFolder();
  const within = (name: string) => join(folder.path, name);
  const path = within("docker.sock");
  const places = ["--data-root", within("data"), "--exec-root", within("exec")];
  const daemon = Bun.spawn(
    [
      "dockerd",
      ...places,
      "--pidfile",
      within("pid"),
      "--host",
      `unix://${path}`,
      "--bridge=none",
      "--iptables=false",
      "--storage-driver=vfs",
    ],
    { stdin: "ignore", stdout: "ignore", stderr: "ignore" },
  );

  async function ask(target: string, method = "POST", body?: BodyInit, type?: string) {
    const headers = new Headers();
    if (type !== undefined) headers.set("content-type", type);
    const init = { unix: path, method, headers, body: body ?? null };
    const answer = await fetch(`http://docker${target}`, init);
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${target} answered ${answer.status}: ${text}`);
  }

  while (
    !(await fetch("http://docker/_ping", { unix: path }).then(
      ({ ok }) => ok,
      () => false,
    ))
  ) {
    if (daemon.exitCode !== null) throw new Error("dockerd has ended");
    await Bun.sleep(50);
  }
  const tar = Bun.spawnSync(["tar", "-c", "-h", "-C", "/", (BUSYBOX ?? "").slice(1)]);
  await ask(
    "/images/create?fromSrc=-&repo=tiny&tag=1",
    "POST",
    new Uint8Array(tar.stdout),
    "application/x-tar",
  );
  return {
    path,
    async start(name, labels) {
      const made = {
        Image: "tiny:1",
        Cmd: [BUSYBOX, "sleep", "3600"],
        Labels: labels,
        HostConfig: { NetworkMode: "none" },
      };
      const type = "application/json";
      await ask(`/containers/create?name=${name}`, "POST", JSON.stringify(made), type);
      await ask(`/containers/${name}/start`);
    },
    stop: (name) => ask(`/containers/${name}/stop?t=0`),
    remove: (name) => ask(`/containers/${name}?force=true`, "DELETE"),
    async [Symbol.asyncDispose]() {
      daemon.kill("SIGTERM");
      await daemon.exited;
      folder[Symbol.dispose]();
    },
  };
}
