import type { AttemptRecord } from "../../context";
import type { Valkey } from "./client";
import { script } from "./script";

/** Time for which an attempt is remembered, in seconds: two days. */
const KEPT_S = 172_800;

/** Notes the begin of an attempt, unless it is noted already. Arguments: term, seconds. Answers what was noted. */
const BEGIN = script(`
local noted = redis.call('GET', KEYS[1])
if not noted then redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2]) end
return noted
`);

/**
 * Notes attempts as a text of the term and, once there is one, the outcome. Without Valkey nothing is noted, so that a
 * primary that takes over repeats what the database lacks.
 */
export function recordAttempts(
  valkey: Pick<Valkey, "run" | "send">,
  term: () => number | undefined,
): AttemptRecord {
  const keyOf = (id: string, attempt: number) => `send:${id}:${attempt}`;
  const termText = () => String(term() ?? 0);
  return {
    async begin(id, attempt) {
      const args = [termText(), String(KEPT_S)];
      const noted = await valkey.run(BEGIN, [keyOf(id, attempt)], args).catch(() => undefined);
      const at = typeof noted === "string" ? noted.indexOf(" ") : -1;
      return at === -1 ? undefined : (JSON.parse(String(noted).slice(at + 1)) as object);
    },
    async end(id, attempt, outcome) {
      const text = `${termText()} ${JSON.stringify(outcome)}`;
      const args = [keyOf(id, attempt), text, "EX", String(KEPT_S)];
      await valkey.send("SET", args).catch(() => {});
    },
  };
}
