import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { RESULTS_PATH, type SentResults } from "../../src/features/locations/agent-wire";

/**
 * Treatment of a batch of results. `twice`: the server gets it two times at once. `unanswered`: the server gets it, and
 * the agent no answer. `late`: the agent gets an error, and the server gets the batch after the next one of the process.
 */
export const TREATMENTS = ["once", "twice", "unanswered", "late"] as const;
export type Treatment = (typeof TREATMENTS)[number];

/** Result of a check that an agent has sent. */
export interface SentCheck {
  monitorId: string;
  /** Time of the check by its age when it was first sent, in unix ms. */
  at: number;
  outcome: string;
  /** True if the server has answered that it has it. */
  isTaken: boolean;
}

/** Link between agents and their server, which knows what each agent sends. */
export interface AgentLink extends AsyncDisposable {
  port: number;
  /** Decides what happens to the next batch; nothing does by default. */
  treat: (token: string) => Treatment;
  /** Number of batches by their treatment. */
  treated: Readonly<Record<Treatment, number>>;
  /** Returns the checks whose results came with a token, in the order in which they were made. */
  sentWith(token: string): SentCheck[];
}

/** Passes requests of agents on to the socket of a server. Requests that it does not answer get no answer. */
export async function startAgentLink(unix: string): Promise<AgentLink> {
  /** Checks by token, and by the process and the number of their results. */
  const sent = new Map<string, Map<string, SentCheck>>();
  /** Batches that are late, by the name of the process. */
  const held = new Map<string, (() => Promise<unknown>)[]>();
  const treated = { once: 0, twice: 0, unanswered: 0, late: 0 };
  const link = { treat: (_token: string): Treatment => "once" };

  function note(token: string, { process, results }: SentResults): SentCheck[] {
    const checks = sent.get(token) ?? new Map<string, SentCheck>();
    sent.set(token, checks);
    const now = Date.now();
    return results
      .filter(({ kind }) => kind === "check")
      .map(({ number, age_ms: ageMs, monitor_id: monitorId, outcome }) => {
        const key = `${process} ${number}`;
        const check = checks.get(key) ?? { monitorId, at: now - ageMs, outcome, isTaken: false };
        checks.set(key, check);
        return check;
      });
  }

  async function passOn(request: IncomingMessage, body: string, signal: AbortSignal) {
    const answer = await fetch(`http://localhost${request.url}`, {
      unix,
      method: request.method ?? "GET",
      headers: request.headers as Record<string, string>,
      signal,
      ...(body !== "" && { body }),
    });
    return { status: answer.status, etag: answer.headers.get("etag"), text: await answer.text() };
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await textOf(request);
    const left = new AbortController();
    response.on("close", () => left.abort());
    const send = (signal = left.signal) => passOn(request, body, signal);
    const reply = ({ status, etag, text }: Awaited<ReturnType<typeof send>>) => {
      response.writeHead(status, {
        "content-type": "application/json",
        ...(etag !== null && { etag }),
      });
      response.end(text);
    };
    if (request.url !== RESULTS_PATH) return reply(await send());
    const token = request.headers.authorization?.replace("Bearer ", "") ?? "";
    const batch = JSON.parse(body) as SentResults;
    const checks = note(token, batch);
    const treatment = link.treat(token);
    treated[treatment] += 1;
    const patient = new AbortController().signal;
    if (treatment === "late") {
      held.set(batch.process, [...(held.get(batch.process) ?? []), () => send(patient)]);
      response.writeHead(503, { "content-type": "application/json" });
      response.end("{}");
      return undefined;
    }
    const [first] = await Promise.all(
      treatment === "twice" ? [send(patient), send(patient)] : [send(patient)],
    );
    const isTaken = first.status === 200;
    if (isTaken) {
      for (const check of checks) check.isTaken = true;
      await passHeld(batch.process);
    }
    if (treatment === "unanswered") {
      response.destroy();
      return undefined;
    }
    return reply(first);
  }

  async function passHeld(process: string): Promise<void> {
    const late = held.get(process) ?? [];
    held.delete(process);
    await Promise.all(late.map((pass) => pass()));
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return Object.assign(link, {
    port: (server.address() as AddressInfo).port,
    treated,
    sentWith: (token: string) => [...(sent.get(token)?.values() ?? [])],
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
