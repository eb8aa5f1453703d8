import { sha256Hex } from "../../base/hash";
import { oneLine, plural } from "../../base/text";
import { schemaErrors } from "../../base/validation";
import { OperatorError } from "../../db/errors";
import { cutName, isObject, isObjectOrList, parseModestJson, readText } from "../kit";
import { emptyFound, type Found, type FoundMonitor, type LeftOut } from "../found";
import { Check, type Hide, type IdentifiedCheck, listUnknownFields, monitorOf } from "./checks";

const CHECKS_MAX = 5_000;

interface HealthchecksOptions {
  /** Key of the addresses with slugs, which is a secret; undefined if no job uses them. */
  pingKey: string | undefined;
}

/**
 * Reads the checks of Healthchecks from a file with the answer of its API. Throws an OperatorError for a file
 * that cannot be used.
 */
export async function readHealthchecks(path: string, options: HealthchecksOptions): Promise<Found> {
  const document = parseModestJson(await readText(path), path);
  if (!isObject(document) || !Array.isArray(document["checks"])) {
    throw new OperatorError(
      `${path} is no answer of Healthchecks to GET /api/v3/checks/: it is no JSON object with a list of checks.`,
    );
  }
  const checks = document["checks"] as unknown[];
  if (checks.length > CHECKS_MAX) {
    const count = plural(checks.length, "check");
    throw new OperatorError(
      `${path} has ${count}; ${CHECKS_MAX.toLocaleString("en")} is the most.`,
    );
  }
  const isReadOnly = (check: unknown) =>
    isObject(check) && "unique_key" in check && !("ping_url" in check);
  if (checks.length > 0 && checks.every(isReadOnly)) {
    throw new OperatorError(
      `${path} is the answer to a read-only key, which has no ping URLs. Fetch it again with a read-write key, so that jobs need no new address.`,
    );
  }
  return findInAnswer(document, checks, options);
}

/** Maximum numbers of integrations that are listed, and of addresses in the instructions. */
const CHANNELS_MAX = 1_000;
const ENDPOINTS_MAX = 5;

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const UUIDS = /[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}/gi;

/** Returns the monitors and integrations of an answer. */
function findInAnswer(
  document: object,
  checks: readonly unknown[],
  { pingKey }: { pingKey: string | undefined },
): Found {
  const hide: Hide = (text) => {
    const withoutUuids = text.replace(UUIDS, "[redacted]");
    return pingKey === undefined ? withoutUuids : withoutUuids.replaceAll(pingKey, "[redacted]");
  };
  const found = emptyFound("healthchecks");
  const identified: IdentifiedCheck[] = [];
  const held: FoundMonitor[] = [];
  for (const [index, check] of checks.entries()) {
    const result = identify(check, index, hide);
    if ("reason" in result) found.leftOut.push(result);
    else if ("check" in result) identified.push(result);
    else held.push(result);
  }
  const slugs = Map.groupBy(identified, ({ check }) => check.slug ?? "");
  const isUnique = (slug: string) => slugs.get(slug)?.length === 1;
  found.monitors.push(...identified.map((one) => monitorOf(one, pingKey, isUnique, hide)), ...held);
  found.leftOut.push(...channelsOf(identified));
  found.notRead.push(...listUnknownFields(document, checks.filter(isObjectOrList)).map(hide));
  found.toDo.push(...toDoOf(identified, slugs, pingKey).map(hide));
  return found;
}

/**
 * Returns a check with its identity. One with fields that Healthchecks does not write is held, and what is no object is
 * left out.
 */
function identify(
  value: unknown,
  index: number,
  hide: Hide,
): IdentifiedCheck | FoundMonitor | LeftOut {
  const { ping_url: pingUrl, unique_key: uniqueKey, name } = isObjectOrList(value) ? value : {};
  const [uuid] = UUID.exec(asText(pingUrl).toLowerCase()) ?? [];
  const publicId = /^[0-9a-f]{40}$/.test(asText(uniqueKey)) ? asText(uniqueKey) : undefined;
  const foreign = {
    type: "check",
    id: uuid === undefined ? (publicId ?? `checks[${index}]`) : publicIdOf(uuid),
    name: cutName(hide(asText(name)), uuid === undefined ? `Check ${index + 1}` : "Unnamed check"),
  };
  const [error] = schemaErrors(Check, value);
  if (!error) return { check: value as Check, uuid, foreign };
  const field = error.pointer.slice(2);
  const reason = oneLine(`Its ${field || "entry"} ${error.detail}.`);
  if (!isObjectOrList(value)) return { foreign, reason };
  // Without the addresses of its jobs, of which only hashes are ever stored.
  const settings = JSON.parse(hide(JSON.stringify(value))) as Record<string, unknown>;
  const config = { source: "healthchecks", type: "check", target: foreign.name, settings };
  return {
    foreign,
    body: { type: "unsupported", name: foreign.name, config },
    changes: [],
    held: `${reason} Its settings are kept.`,
    components: "internal",
  };
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Returns the id that Healthchecks shows to read-only keys. The UUID itself is a secret, since it can be called. */
function publicIdOf(uuid: string): string {
  const half = uuid.replaceAll("-", "").slice(0, 16);
  return new Bun.CryptoHasher("sha1").update(half).digest("hex");
}

/** Lists the integrations. The answer has only their ids, which may be secrets. */
function channelsOf(checks: readonly IdentifiedCheck[]): LeftOut[] {
  const counts = new Map<string, number>();
  for (const { check } of checks) {
    for (const id of new Set((check.channels ?? "").split(",").filter(Boolean))) {
      counts.set(id, (counts.get(id) ?? 0) + 1);
    }
  }
  return [...counts].slice(0, CHANNELS_MAX).map(([id, count], index) => ({
    foreign: {
      type: "integration",
      id: sha256Hex(id).slice(0, 12),
      name: `Integration ${index + 1} of ${plural(count, "check")}`,
    },
    reason: "The answer has only its id. Create a webhook in its place.",
  }));
}

function toDoOf(
  checks: readonly IdentifiedCheck[],
  slugs: ReadonlyMap<string, readonly IdentifiedCheck[]>,
  pingKey: string | undefined,
): string[] {
  const addresses = new Set(
    checks.flatMap(({ check, uuid }) =>
      uuid === undefined ? [] : (endpointOf(check.ping_url ?? "", uuid) ?? []),
    ),
  );
  const hasSlugs = [...slugs.keys()].some((slug) => slug !== "");
  return [
    ...[...addresses]
      .slice(0, ENDPOINTS_MAX)
      .map(
        (address) =>
          `In the addresses that jobs call, replace ${oneLine(address)} by the address of this server and /ping/.`,
      ),
    ...(hasSlugs && pingKey === undefined
      ? ["If jobs call addresses with a ping key and a slug, import again with the ping key."]
      : []),
  ];
}

/** Returns a ping URL without its UUID; undefined if it is no URL. */
function endpointOf(pingUrl: string, uuid: string): string | undefined {
  const url = URL.parse(pingUrl);
  return url?.host ? `${url.origin}${url.pathname.slice(0, -uuid.length)}` : undefined;
}
