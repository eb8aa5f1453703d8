/*
 * `maintenance run`: runs a program, such as a deployment, while components are under maintenance. The window is 15
 * minutes long, and its end is moved on while the program runs. So it ends by itself if this process is killed.
 */
import { MINUTE_MS, SECOND_MS, toIso } from "../../base/time";
import type { Maintenance } from "../../features/maintenance/wire";
import { type ExitCode, Failure, type Invocation, UsageError } from "../command";
import { isTerminal } from "../process";
import { type Client, connect, EXIT, MACHINE, remoteCommand } from "./client";
import { createPrinter } from "../print";

/** Exit code if no window was opened. The program was not run then. */
const NO_WINDOW = 125;

/** Length of the window, counted from its start and from each time at which its end is moved, in ms. */
const WINDOW_MS = 15 * MINUTE_MS;
/** Time between two moves of the end, in ms. */
const MOVE_MS = 5 * MINUTE_MS;
/** Time from a move that had no answer to the next one, in ms. */
const NEXT_MOVE_MS = MINUTE_MS;
/**
 * Time from the request to the planned start, in ms. The update after it starts the maintenance at once, and the server
 * only if that one is missing.
 */
const LEAD_MS = 10 * SECOND_MS;

const runCommand = remoteCommand({
  name: "maintenance run",
  summary: "Run a program while components are under maintenance.",
  words: "PROGRAM [ARGUMENTS]",
  failureCode: NO_WINDOW,
  flags: [
    {
      name: "component",
      placeholder: "PAGE:REF",
      isRequired: true,
      isRepeatable: true,
      help: "Component, by its page and ref, or with --page by its id; can be repeated.",
    },
    { name: "page", placeholder: "P", help: "Page; default: that of the components." },
    { name: "name", placeholder: "T", help: "Title of the maintenance; default: Maintenance." },
    { name: "message", placeholder: "T", help: "Text of the maintenance on the status page." },
    { name: "notify", help: "Send notifications of its start and its end." },
  ],
  async run(invocation) {
    const plan = readPlan(invocation);
    const { env, words } = invocation;
    const [program = ""] = words;
    // Before a window is opened for it.
    if (Bun.which(program, { PATH: env["PATH"] ?? "" }) === null) {
      throw new Failure(`There is no program ${program} that can be run.`, NO_WINDOW);
    }
    const client = connect(invocation);
    const note = createPrinter(invocation).note;
    return runWithSignals(client, (run, hasSignal) =>
      runInWindow({ client, plan, note, sleep: MACHINE.sleep, run, hasSignal }, words),
    );
  },
});

export const maintenanceCommands = [runCommand];

interface Plan {
  page: string;
  components: readonly string[];
  name: string;
  message: string;
  notify: boolean;
}

function readPlan({ isSet, value, values }: Invocation): Plan {
  const components = values("component");
  const pages = new Set(components.map((one) => (one.includes(":") ? one.split(":", 1)[0] : "")));
  const [first = "", ...others] = pages;
  const page = value("page") ?? (others.length === 0 ? first : "");
  if (page === "") {
    const problem =
      others.length > 0 && !pages.has("")
        ? "--component must name components of one page."
        : "--component must be PAGE:REF without --page.";
    throw new UsageError([problem]);
  }
  return {
    page,
    components,
    name: value("name") ?? "Maintenance",
    message: value("message") ?? "Maintenance is being carried out.",
    notify: isSet("notify"),
  };
}

/** Starts the program, and resolves to its exit code; 128 and its number for a signal. */
type RunProgram = (words: readonly string[]) => Promise<number>;

/** Parts of `runInWindow`, so that tests own time. */
export interface Run {
  client: Client;
  plan: Plan;
  note(text: string): void;
  sleep(ms: number): Promise<void>;
  run: RunProgram;
  /** True once the process got a signal that asks it to end. */
  hasSignal(): boolean;
}

/** Opens a window, runs the program in it, and completes it. Returns the exit code of the program. */
export async function runInWindow(
  { client, plan, note, sleep, run, hasSignal }: Run,
  words: readonly string[],
): Promise<ExitCode> {
  const path = await openWindow(client, plan, note);
  const ended = new AbortController();
  try {
    if (hasSignal()) throw new Failure(`${words[0]} was not run.`, NO_WINDOW);
    void keepOpen(client, path, { note, sleep, ended: ended.signal });
    return await run(words);
  } finally {
    ended.abort();
    await completeWindow(client, path, plan, note);
  }
}

/** Opens the window and returns the path of the maintenance. Throws a Failure if that fails. */
async function openWindow(client: Client, plan: Plan, note: Run["note"]): Promise<string> {
  // Its answer has the time of the server, by which the window is planned.
  await client.get("/api/v1/key");
  const { page, components, name, message, notify } = plan;
  const from = client.now() + LEAD_MS;
  const until = toIso(from + WINDOW_MS);
  const maintenance = await client
    .post<Maintenance>("/api/v1/maintenance", {
      page,
      name,
      body: message,
      components,
      scheduled_for: toIso(from),
      scheduled_until: until,
      remind_minutes_before: null,
      notify,
    })
    .catch((error: unknown) => {
      if (isNoAnswer(error)) note(`If the maintenance was planned, it ends by itself at ${until}.`);
      throw error;
    });
  const path = `/api/v1/maintenance/${maintenance.id}`;
  note(`Maintenance ${maintenance.id} begins: ${maintenance.url}`);
  try {
    // People have been notified of the window already.
    const update = { status: "in_progress", body: "The maintenance has begun.", notify: false };
    await client.post(`${path}/updates`, update);
  } catch (error) {
    note(`Maintenance ${maintenance.id} ends by itself at ${maintenance.scheduled_until}.`);
    throw error;
  }
  return path;
}

/** Moves the end of the window on until the program has ended. A person may have set a later one, or ended it. */
async function keepOpen(
  client: Client,
  path: string,
  { note, sleep, ended }: Pick<Run, "note" | "sleep"> & { ended: AbortSignal },
): Promise<void> {
  let isLost = false;
  let noted = "";
  for (;;) {
    await sleep(isLost ? NEXT_MOVE_MS : MOVE_MS);
    if (ended.aborted) return;
    try {
      const until = toIso(client.now() + WINDOW_MS);
      // One try, since the waits of others would be shown amid the output of the program.
      await client.patch(path, { scheduled_until: until }, 1);
      isLost = false;
      noted = "";
    } catch (error) {
      if (ended.aborted) return;
      isLost = isNoAnswer(error);
      const message = messageOf(error);
      if (message !== noted) note(`The window is not extended: ${message}`);
      noted = message;
    }
  }
}

function isNoAnswer(error: unknown): boolean {
  return error instanceof Failure && error.exitCode === EXIT.noAnswer;
}

/** Completes the window. A failure changes no exit code, since the window ends by itself. */
async function completeWindow(
  client: Client,
  path: string,
  { notify }: Plan,
  note: Run["note"],
): Promise<void> {
  try {
    const body = "The maintenance has been completed.";
    await client.post(`${path}/updates`, { status: "completed", body, notify });
    note("Maintenance has been completed.");
  } catch (error) {
    // A person has completed or cancelled it.
    if (error instanceof Failure && error.exitCode === EXIT.conflict) return;
    note(`The maintenance ends by itself within 15 minutes: ${messageOf(error)}`);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Signals that are passed on to the program. */
const SIGNALS = [
  "SIGINT",
  "SIGTERM",
  "SIGHUP",
  "SIGQUIT",
  "SIGUSR1",
  "SIGUSR2",
] as const satisfies readonly NodeJS.Signals[];
/** Those of them that keys of a terminal send to the program as well. */
const KEY_SIGNALS: readonly NodeJS.Signals[] = ["SIGINT", "SIGQUIT"];

/** Time after the end of the program, in ms, in which a signal is that which ended it: Ctrl-C reaches both at once. */
const SAME_MS = SECOND_MS;

/**
 * Runs some work that may start a program. Signals go to the program. Before it has started they prevent it, and once it has
 * ended they end the work.
 */
export async function runWithSignals(
  client: Pick<Client, "stopRetrying">,
  work: (run: RunProgram, hasSignal: () => boolean) => Promise<ExitCode>,
  now: () => number = MACHINE.now,
): Promise<ExitCode> {
  const given = Promise.withResolvers<ExitCode>();
  let hasSignal = false;
  let child: Bun.Subprocess | undefined;
  let exitCode: ExitCode | undefined;
  let endedAt = 0;

  function receive(signal: NodeJS.Signals): void {
    if (exitCode !== undefined) {
      if (now() - endedAt >= SAME_MS) given.resolve(exitCode);
      return;
    }
    if (child === undefined) {
      hasSignal = true;
      client.stopRetrying();
      return;
    }
    // A terminal sends it to the program as well, which may take a second one for an order to end at once.
    if (!KEY_SIGNALS.includes(signal) || !isAtTerminal()) child.kill(signal);
  }

  async function run(words: readonly string[]): Promise<number> {
    try {
      child = Bun.spawn([...words], { stdio: ["inherit", "inherit", "inherit"] });
    } catch (error) {
      throw new Failure(`${words[0]} cannot be run: ${messageOf(error)}`, NO_WINDOW);
    }
    exitCode = await child.exited;
    endedAt = now();
    return exitCode;
  }

  for (const signal of SIGNALS) process.on(signal, receive);
  try {
    return await Promise.race([work(run, () => hasSignal), given.promise]);
  } finally {
    for (const signal of SIGNALS) process.off(signal, receive);
  }
}

/** True if the process was started at a terminal, whose keys send signals to the program as well. */
function isAtTerminal(): boolean {
  return [0, 1, 2].some(isTerminal);
}
