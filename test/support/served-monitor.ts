import type { Server } from "./binary";

/** A monitor of a running server, managed by a key with `manage:monitors`. */
interface ServedMonitor {
  /** Runs a check. Rejects if the server does not answer. */
  check(): Promise<{ outcome: string; message: string | null }>;
  /** Returns the outcomes of all checks, newest first. */
  outcomes(): Promise<string[]>;
  state(): Promise<string>;
}

export async function createServedMonitor(
  server: Server,
  key: string,
  input: object,
): Promise<ServedMonitor> {
  const path = "/api/v1/monitors";
  const created = await server.fetch(path, {
    method: "POST",
    key,
    headers: { "content-type": "application/json" },
    body: JSON.stringify(input),
  });
  if (created.status !== 201) throw new Error(await created.text());
  const { id } = (await created.json()) as { id: string };
  async function read(more: string, method = "GET"): Promise<unknown> {
    const answer = await server.fetch(`${path}/${id}${more}`, { key, method });
    if (!answer.ok) throw new Error(await answer.text());
    return answer.json();
  }
  return {
    check: async () => (await read("/check", "POST")) as { outcome: string; message: string },
    async outcomes() {
      const { data } = (await read("/checks")) as { data: { outcome: string }[] };
      return data.map(({ outcome }) => outcome);
    },
    state: async () => ((await read("")) as { state: string }).state,
  };
}

/** Repeats an action until a promise has settled, and returns the number of repetitions. */
export async function repeatUntil(
  ended: Promise<unknown>,
  act: () => Promise<void>,
): Promise<number> {
  let hasEnded = false;
  const end = () => void (hasEnded = true);
  ended.then(end, end);
  let count = 0;
  for (; !hasEnded; count += 1) await act();
  return count;
}
