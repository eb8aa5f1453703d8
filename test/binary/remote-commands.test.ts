import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import {
  createInstallation,
  executable,
  holds,
  type Installation,
  PROCESS_TEST_MS,
  type Server,
  textOf,
} from "../support/binary";
import { commandLine } from "../support/command-line";
import { startCuttingProxy } from "../support/cutting-proxy";
import { startAtTerminal } from "../support/terminal";

setDefaultTimeout(PROCESS_TEST_MS);

const SCOPES = ["read:status", "write:incidents", "write:components", "write:maintenance"];
/** Escape sequences of colours. */
// oxlint-disable-next-line no-control-regex
const COLOUR = /\u001b\[[\d;]*m/g;

let site: Installation;
let server: Server;
let key: string;
let program: string;
/** Everything that commands have printed. */
const printed: string[] = [];

beforeAll(async () => {
  program = await executable();
  site = await createInstallation();
  await site.createPage("shop", ["Checkout", "Search"]);
  server = await site.serve();
  ({ value: key } = await site.createKey(SCOPES));
});
afterAll(() => site[Symbol.asyncDispose]());

const environment = (more: Record<string, string> = {}) => ({
  ALLCLEAR_SERVER: server.url,
  ALLCLEAR_KEY: key,
  ...more,
});

interface Outcome {
  exitCode: number;
  out: string;
  err: string;
}

/** Starts a command with pipes. */
function start(args: string[], env: Record<string, string> = {}) {
  return Bun.spawn([program, ...args], {
    cwd: site.workDir,
    env: { PATH: process.env["PATH"] ?? "", ...environment(env) },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
}

/** Runs a command with pipes to its end. */
async function inPipe(args: string[], env: Record<string, string> = {}): Promise<Outcome> {
  const child = start(args, env);
  const [out, err] = await Promise.all([textOf(child.stdout), textOf(child.stderr)]);
  printed.push(out, err);
  return { exitCode: await child.exited, out, err };
}

/** Runs a command at a pseudo-terminal to its end. */
async function atTerminal(args: string[], env: Record<string, string> = {}) {
  using process = startAtTerminal([program, ...args], environment(env));
  const ended = await process.end();
  printed.push(ended.text);
  return ended;
}

async function api<T>(path: string): Promise<T> {
  return (await (await server.fetch(`/api/v1${path}`, { key })).json()) as T;
}

interface Listed {
  id: string;
  name: string;
  status: string;
}

async function incidents(): Promise<Listed[]> {
  return (await api<{ data: Listed[] }>("/incidents?limit=100")).data;
}

/** Reads a stream until its text matches, and returns what it has read. */
async function readUntil(
  reader: { read(): Promise<{ done: boolean; value?: Uint8Array | undefined }> },
  pattern: RegExp,
): Promise<string> {
  let text = "";
  while (!pattern.test(text)) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`the output ended without ${pattern}:\n${text}`);
    text += new TextDecoder().decode(value);
  }
  printed.push(text);
  return text;
}

describe("each command in the executable", () => {
  test("commands print the same at a terminal and in a pipe, in colours only at a terminal", async () => {
    await inPipe(["component", "set", "shop:search", "degraded_performance"]);
    const component = ["--component", "shop:search=partial_outage"];
    const open = ["incident", "open", "Slow.", "--name", "Slow search", ...component];
    const opened = await inPipe(open);
    expect(opened.exitCode).toBe(0);
    for (const args of [["status"], ["status", "shop"], ["incident", "list"]]) {
      const pipe = await inPipe(args);
      expect([args, pipe.exitCode, pipe.err]).toEqual([args, 0, ""]);
      expect(pipe.out).not.toContain("\u001b");
      const terminal = await atTerminal(args);
      expect(terminal.exitCode).toBe(0);
      expect(terminal.text).toMatch(COLOUR);
      expect(terminal.text.replaceAll(COLOUR, "")).toBe(pipe.out);
      const plain = await atTerminal(args, { NO_COLOR: "1" });
      expect(plain.text).toBe(pipe.out);
    }
    const json = await inPipe(["status", "shop", "--json"]);
    expect(JSON.parse(json.out)).toEqual(await api("/status/shop"));
    expect(JSON.parse((await atTerminal(["status", "shop", "--json"])).text)).toEqual(
      JSON.parse(json.out),
    );
    expect((await inPipe(["incident", "resolve", opened.out.trim()])).exitCode).toBe(0);
    await inPipe(["component", "set", "shop:search", "operational"]);
  });

  test("changes work at a terminal as in a pipe, and scripts get the id of an incident", async () => {
    const open = ["incident", "open", "Text.", "--name", "Piped"];
    const pipe = await inPipe(open);
    expect([pipe.exitCode, pipe.out]).toMatchObject([0, expect.stringMatching(/^inc_\w{26}\n$/)]);
    const id = pipe.out.trim();
    const terminal = await atTerminal(["incident", "open", "Text.", "--name", "Typed"]);
    expect([terminal.exitCode, terminal.text]).toMatchObject([
      0,
      expect.stringMatching(/^inc_\w{26}\nOpened “Typed”, http/),
    ]);
    for (const run of [inPipe, atTerminal]) {
      const codes = [
        (await run(["incident", "update", id, "More.", "--status", "identified"])).exitCode,
        (await run(["incident", "resolve", id])).exitCode,
        (await run(["component", "set", "shop:search", "operational", "--reason", "Fine"]))
          .exitCode,
      ];
      expect(codes).toEqual([0, 0, 0]);
    }
    expect((await api<Listed>(`/incidents/${id}`)).status).toBe("resolved");
  });

  test("every exit code is the same in a pipe and at a terminal", async () => {
    const set = ["component", "set", "shop:checkout"];
    await inPipe([...set, "major_outage"]);
    const named = ["incident", "open", "T.", "--name", "N", "--external-ref", "only-one"];
    expect((await inPipe(named)).exitCode).toBe(0);
    const { value: narrow } = await site.createKey(["read:analytics"]);
    const unreachable = { ALLCLEAR_SERVER: "http://127.0.0.1:1" };
    const cases: [number, string[], Record<string, string>?][] = [
      [0, ["status"]],
      [1, ["status", "nothing"]],
      [1, ["incident", "resolve", "inc_nothing"]],
      [2, ["status", "--fail-on", "never"]],
      [2, [...set, "broken"]],
      [2, ["status"], { ALLCLEAR_SERVER: "http://status.test" }],
      [3, ["status"], { ALLCLEAR_KEY: "allclear_wrong" }],
      [3, ["incident", "list"], { ALLCLEAR_KEY: narrow }],
      [4, ["status"], unreachable],
      [5, named],
      [6, ["status", "--fail-on", "major"]],
      [125, ["maintenance", "run", "--component", "shop:nothing", "--", "true"]],
      [125, ["maintenance", "run", "--component", "shop:checkout", "--", "true"], unreachable],
      [42, ["maintenance", "run", "--component", "shop:checkout", "--", "sh", "-c", "exit 42"]],
    ];
    // Together, since those without an answer wait before each try.
    for (const run of [inPipe, atTerminal]) {
      const outcomes = await Promise.all(cases.map(([, args, env]) => run(args, env)));
      const codes = outcomes.map(({ exitCode }, index) => [cases[index]?.[1], exitCode]);
      expect(codes).toEqual(cases.map(([code, args]) => [args, code]));
    }
    await inPipe([...set, "operational"]);
  });

  test("a connection that is cut after the server has opened an incident makes one incident", async () => {
    await using proxy = await startCuttingProxy(server.port, 2);
    const open = ["incident", "open", "Cut.", "--name", "Cut off", "--page", "shop"];
    const { exitCode, out, err } = await inPipe(open, { ALLCLEAR_SERVER: proxy.url });
    expect(proxy.cut).toEqual(Array.from({ length: 2 }, () => "POST /api/v1/incidents"));
    expect([exitCode, err]).toMatchObject([0, expect.stringContaining("Opened “Cut off”")]);
    const made = (await incidents()).filter(({ name }) => name === "Cut off");
    expect(made.map(({ id }) => id)).toEqual([out.trim()]);
  });

  test.each(["bash", "zsh", "fish"])(
    "the completion of %s is that of the sources",
    async (shell) => {
      const { exitCode, out } = await inPipe(["completion", shell]);
      const expected = await commandLine(site.dataDir)(["completion", shell]);
      expect([exitCode, out]).toEqual([0, `${expected.out.join("\n")}\n`]);
    },
  );

  test("a key is sent to no proxy on its way to the same machine", async () => {
    const seen: string[] = [];
    const proxy = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch(request) {
        seen.push(request.headers.get("authorization") ?? "none");
        return new Response("", { status: 502 });
      },
    });
    const url = `http://127.0.0.1:${proxy.port}`;
    const { exitCode } = await inPipe(["status"], { HTTP_PROXY: url, http_proxy: url });
    await proxy.stop(true);
    expect([exitCode, seen]).toEqual([0, []]);
  });
});

describe("allclear watch", () => {
  test("a pipe gets the page, a line for each change, and an end by a signal", async () => {
    const child = start(["watch", "shop"]);
    const reader = child.stdout.getReader();
    await readUntil(reader, /shop:search/);
    await inPipe(["component", "set", "shop:search", "partial_outage"]);
    const change = await readUntil(reader, /shop:search partial_outage\n/);
    expect(change).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z shop/m);
    expect(change).not.toContain("\u001b");
    await inPipe(["component", "set", "shop:search", "operational"]);
    await readUntil(reader, /shop:search operational\n/);
    child.kill("SIGINT");
    expect(await child.exited).toBe(0);
  });

  test("--json prints a document in a line for each change", async () => {
    const child = start(["watch", "shop", "--json"]);
    const reader = child.stdout.getReader();
    const statusIn = (line: string) => {
      const { components } = JSON.parse(line) as { components: { ref: string; status: string }[] };
      return components.find(({ ref }) => ref === "search")?.status;
    };
    expect(statusIn(await readUntil(reader, /\n$/))).toBe("operational");
    await inPipe(["component", "set", "shop:search", "partial_outage"]);
    expect(statusIn(await readUntil(reader, /\n$/))).toBe("partial_outage");
    child.kill("SIGTERM");
    expect(await child.exited).toBe(0);
    await inPipe(["component", "set", "shop:search", "operational"]);
  });

  test("a terminal shows the whole page again after a change, until Ctrl-C", async () => {
    using process = startAtTerminal([program, "watch"], environment());
    await process.until(/Ctrl-C ends\./);
    await inPipe(["component", "set", "shop:search", "major_outage"]);
    await process.until(/major_outage[\s\S]*Ctrl-C ends\./);
    // oxlint-disable-next-line no-control-regex
    expect(process.text().match(/\u001b\[H\u001b\[2J/g)?.length).toBeGreaterThanOrEqual(2);
    process.type("\u0003");
    const { exitCode, text } = await process.end();
    printed.push(text);
    expect(exitCode).toBe(0);
    // What was on the terminal before stays above the screen.
    expect(text).not.toContain("\u001b[3J");
    await inPipe(["component", "set", "shop:search", "operational"]);
  });

  test("watch ends if the reader of its output has ended", async () => {
    const child = Bun.spawn(["sh", "-c", '"$0" watch shop | head -n 1', program], {
      env: { PATH: process.env["PATH"] ?? "", ...environment() },
      stdout: "pipe",
      stderr: "pipe",
    });
    await readUntil(child.stdout.getReader(), /\n/);
    await inPipe(["component", "set", "shop:search", "degraded_performance"]);
    expect([await child.exited, await textOf(child.stderr)]).toEqual([0, ""]);
    await inPipe(["component", "set", "shop:search", "operational"]);
  });

  test("watch outlives a restart of the server, and says that it was away", async () => {
    await using other = await createInstallation();
    await other.createPage("mine", ["API"]);
    const { value } = await other.createKey(["read:status", "write:components"]);
    const first = await other.serve();
    const child = start(["watch"], { ALLCLEAR_SERVER: first.url, ALLCLEAR_KEY: value });
    const out = child.stdout.getReader();
    const err = child.stderr.getReader();
    await readUntil(out, /mine:api/);
    await first.stop();
    await readUntil(err, /No answer from .* Still trying\.\n/);
    await other.serve({ args: ["--listen", `127.0.0.1:${first.port}`] });
    await readUntil(err, /The server answers again\.\n/);
    child.kill("SIGTERM");
    expect(await child.exited).toBe(0);
  });

  test("a revoked key ends it with the exit code of a credential", async () => {
    const { id, value } = await site.createKey(["read:status"]);
    const child = start(["watch", "shop"], { ALLCLEAR_KEY: value });
    await readUntil(child.stdout.getReader(), /shop:search/);
    await site.output("key", "revoke", id);
    expect(await child.exited).toBe(3);
  });
});

describe("allclear maintenance run", () => {
  /** Runs a script of sh within maintenance of the component. */
  const within = (script: string) => [
    "maintenance",
    "run",
    "--component",
    "shop:checkout",
    "--",
    "sh",
    "-c",
    script,
  ];

  const isOver = async () =>
    (await api<{ status: string }>("/components/shop:checkout")).status === "operational";

  test("the output of the program alone is on standard output, and its input is that of the command", async () => {
    const child = Bun.spawn([program, ...within("cat; echo to stderr >&2")], {
      env: { PATH: process.env["PATH"] ?? "", ...environment() },
      stdin: new Blob(["typed"]),
      stdout: "pipe",
      stderr: "pipe",
    });
    const [out, err] = await Promise.all([textOf(child.stdout), textOf(child.stderr)]);
    printed.push(out, err);
    expect([await child.exited, out]).toEqual([0, "typed"]);
    expect(err).toMatch(/^Maintenance mnt_\w+ begins: http.*\nto stderr\n.* completed\.\n$/s);
  });

  test.each(["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"] as const)(
    "%s is passed on to the program",
    async (signal) => {
      const name = signal.slice(3);
      const trap = `trap "echo got ${name}; exit 9" ${name}; echo ready; while :; do sleep 0.05; done`;
      const child = start(within(trap));
      const reader = child.stdout.getReader();
      await readUntil(reader, /ready\n/);
      expect(await isOver()).toBe(false);
      child.kill(signal);
      await readUntil(reader, new RegExp(`got ${name}\n`));
      expect(await child.exited).toBe(9);
      expect(await isOver()).toBe(true);
    },
  );

  test.each([
    ["SIGTERM", 143],
    ["SIGKILL", 137],
  ] as const)("a program that %s ends has the exit code %d", async (signal, code) => {
    const { exitCode } = await inPipe(within(`kill -${signal.slice(3)} $$`));
    expect(exitCode).toBe(code);
    expect(await isOver()).toBe(true);
  });

  test("Ctrl-C at a terminal reaches the program once, and the window is completed", async () => {
    const counting = `
      let count = 0;
      process.on("SIGINT", () => {
        count += 1;
        if (count === 1) setTimeout(() => process.exit(10 + count), 500);
      });
      setInterval(() => {}, 1000);
      console.log("ready");
    `;
    const words = ["maintenance", "run", "--component", "shop:checkout", "--"];
    const command = [program, ...words, process.execPath, "-e", counting];
    using run = startAtTerminal(command, environment());
    await run.until(/ready\n/);
    run.type("\u0003");
    const { exitCode, text } = await run.end();
    printed.push(text);
    expect(exitCode).toBe(11);
    expect(await isOver()).toBe(true);
  });

  test("a signal while the server does not answer ends the command without the program", async () => {
    const child = start(within("echo ran"), { ALLCLEAR_SERVER: "http://127.0.0.1:1" });
    await readUntil(child.stderr.getReader(), /Trying again in/);
    child.kill("SIGTERM");
    expect([await child.exited, await textOf(child.stdout)]).toEqual([125, ""]);
  });

  test("a window of a process that was killed stays, and ends at its time", async () => {
    const child = start(within("echo $$; exec sleep 1000"));
    const program = Number(await readUntil(child.stdout.getReader(), /\n/));
    child.kill("SIGKILL");
    await child.exited;
    process.kill(program, "SIGKILL");
    type Window = Listed & { scheduled_until: string };
    const { data } = await api<{ data: Window[] }>("/maintenance?active=true");
    expect(data.map(({ status }) => status)).toEqual(["in_progress"]);
    const left = Date.parse(data[0]?.scheduled_until ?? "") - Date.now();
    expect(left).toBeLessThan(16 * 60_000);
    const body = JSON.stringify({ status: "completed", body: "Over." });
    const headers = { "content-type": "application/json" };
    const path = `/api/v1/maintenance/${data[0]?.id}/updates`;
    await server.fetch(path, { method: "POST", key, headers, body });
  });

  test("neither the arguments of its processes nor any output contain the key", async () => {
    const child = start(within("echo $PPID $$; exec sleep 1000"));
    const pids = (await readUntil(child.stdout.getReader(), /\n/)).trim().split(" ");
    for (const pid of pids) {
      const words = () => readFileSync(`/proc/${pid}/cmdline`, "utf8");
      // A process that begins another program has no words for a moment.
      // oxlint-disable-next-line no-await-in-loop
      expect(await holds(async () => words().length > 5)).toBe(true);
      expect(words()).not.toContain(key);
    }
    child.kill("SIGTERM");
    await child.exited;
    expect(await holds(isOver)).toBe(true);
    const all = printed.join("\n");
    expect(all).toContain("inc_");
    // What follows the part that lists show.
    expect(all).not.toContain(key.slice(13));
  });
});
