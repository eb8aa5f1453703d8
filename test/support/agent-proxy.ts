import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { RESULTS_PATH, type SentResults, WORK_PATH } from "../../src/features/locations/agent-wire";

/**
 * Treatment of a batch of results. `twice`: the server gets it two times at once. `unanswered`: the server gets it, and
 * the agent no answer. `late`: the agent gets an error, and the server gets the batch after the next one of the process.
 */
export const TREATMENTS = ["once", "twice", "unanswered", "late"] as const;
export type Treatment = (typeof TREATMENTS)[number];

/** Result of a check that an agent has sent. */
export interface SentCheck {
  monitorId: string;
  /** Earliest time of the check by its age in a request, in unix ms. */
  at: number;
  /** Latest time that the server may have computed from its age, at the end of a request. */
  latestAt: number;
  outcome: string;
  /** True if the server has answered that it has it. */
  isTaken: boolean;
}

/** Proxy between agents and their server, which knows what each agent sends. */
export interface AgentProxy extends AsyncDisposable {
  port: number;
  /** Returns the treatment of the next batch; `once` by default. */
  treat: (token: string) => Treatment;
  /** Number of batches by their treatment. */
  treated: Readonly<Record<Treatment, number>>;
  /** Returns the checks whose results came with a token, in the order in which they were made. */
  sentWith(token: string): SentCheck[];
  /** Returns the status of the last answer to a poll with a token; undefined before the first. */
  pollStatus(token: string): number | undefined;
}

/** Passes requests of agents on to the socket of a server. Requests that it does not answer get no answer. */
export async function startAgentProxy(unix: string): Promise<AgentProxy> {
  /** Checks by token, and by the process and the number of their results. */
  const sent = new Map<string, Map<string, SentCheck>>();
  /** Batches that are late, by the name of the process. */
  const late = new Map<string, (() => Promise<unknown>)[]>();
  const pollStatuses = new Map<string, number>();
  const treated = { once: 0, twice: 0, unanswered: 0, late: 0 };
  const proxy = { treat: (_token: string): Treatment => "once" };

  function note(token: string, { process, results }: SentResults) {
    const checks = sent.get(token) ?? new Map<string, SentCheck>();
    sent.set(token, checks);
    const now = Date.now();
    return results
      .filter(({ kind }) => kind === "check")
      .map(({ number, age_ms: ageMs, monitor_id: monitorId, outcome }) => {
        const key = `${process} ${number}`;
        const at = now - ageMs;
        const check = checks.get(key) ?? { monitorId, at, latestAt: at, outcome, isTaken: false };
        // A request that the network has held up can come after the one that repeats it.
        check.at = Math.min(check.at, at);
        checks.set(key, check);
        return { check, ageMs };
      });
  }

  async function passOn(request: IncomingMessage, body: string, signal?: AbortSignal) {
    const answer = await fetch(`http://localhost${request.url}`, {
      unix,
      method: request.method ?? "GET",
      headers: request.headers as Record<string, string>,
      ...(signal && { signal }),
      ...(body !== "" && { body }),
    });
    return { status: answer.status, etag: answer.headers.get("etag"), text: await answer.text() };
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await textOf(request);
    const left = new AbortController();
    response.on("close", () => left.abort());
    const reply = ({ status, etag, text }: Awaited<ReturnType<typeof passOn>>) => {
      response.writeHead(status, {
        "content-type": "application/json",
        ...(etag !== null && { etag }),
      });
      response.end(text);
    };
    const token = request.headers.authorization?.replace("Bearer ", "") ?? "";
    if (request.url !== RESULTS_PATH) {
      const other = await passOn(request, body, left.signal);
      if (request.url === WORK_PATH) pollStatuses.set(token, other.status);
      return reply(other);
    }
    const batch = JSON.parse(body) as SentResults;
    const noted = note(token, batch);
    /** Passes the batch on, also if the agent leaves. */
    const send = async () => {
      try {
        return await passOn(request, body);
      } finally {
        const now = Date.now();
        for (const { check, ageMs } of noted) {
          check.latestAt = Math.max(check.latestAt, now - ageMs);
        }
      }
    };
    const treatment = proxy.treat(token);
    treated[treatment] += 1;
    if (treatment === "late") {
      late.set(batch.process, [...(late.get(batch.process) ?? []), send]);
      response.writeHead(503, { "content-type": "application/json" });
      response.end("{}");
      return undefined;
    }
    const [first] = await Promise.all(treatment === "twice" ? [send(), send()] : [send()]);
    const isTaken = first.status === 200;
    if (isTaken) {
      for (const { check } of noted) check.isTaken = true;
      await passLate(batch.process);
    }
    if (treatment === "unanswered") {
      response.destroy();
      return undefined;
    }
    return reply(first);
  }

  async function passLate(process: string): Promise<void> {
    const batches = late.get(process) ?? [];
    late.delete(process);
    await Promise.all(batches.map((send) => send()));
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return Object.assign(proxy, {
    port: (server.address() as AddressInfo).port,
    treated,
    sentWith: (token: string) => [...(sent.get(token)?.values() ?? [])],
    pollStatus: (token: string) => pollStatuses.get(token),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  request.setEncoding("utf8");
  for await (const chunk of request) text += chunk as string;
  return text;
}
