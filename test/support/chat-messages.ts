/**
 * Returns the states that a message for people says of a monitor, in the order of its lines. `body` is JSON. The
 * name must occur in no other text of the message.
 */
export function statesSaid(body: string, monitor: string): ("up" | "down" | "degraded")[] {
  const lines: string[] = [];
  JSON.parse(body, (_key, value) => {
    if (typeof value === "string") lines.push(...value.split("\n"));
    return value;
  });
  return lines.filter((line) => line.includes(monitor)).map(stateIn);
}

function stateIn(line: string): "up" | "down" | "degraded" {
  if (/\bdegraded\b/i.test(line)) return "degraded";
  if (/\bwas down\b|\bup\b/i.test(line)) return "up";
  if (/\bdown\b/i.test(line)) return "down";
  throw new Error(`a line says no state: ${line}`);
}

/**
 * Returns the incident that a message for people is about, with the state of monitors that it says without their
 * names; undefined for other messages, such as those of people that resolve an incident.
 */
export function incidentSaid(body: string): { id: string; state: "up" | "down" } | undefined {
  const [, what] = /(New incident|Incident reopened|Incident resolved)/.exec(body) ?? [];
  const [id] = /inc_[0-9a-z]{26}/.exec(body) ?? [];
  if (what === undefined || id === undefined) return undefined;
  if (what !== "Incident resolved") return { id, state: "down" };
  return body.includes("Automatic checks succeed again") ? { id, state: "up" } : undefined;
}
