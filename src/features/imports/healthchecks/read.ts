import { OperatorError } from "../../../db/errors";
import { plural } from "../../../base/text";
import { parseModestJson, readText } from "../read-text";
import type { Found } from "../source";
import { findInAnswer } from "./answer";

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
  if (!isRecord(document) || !Array.isArray(document["checks"])) {
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
    isRecord(check) && "unique_key" in check && !("ping_url" in check);
  if (checks.length > 0 && checks.every(isReadOnly)) {
    throw new OperatorError(
      `${path} is the answer to a read-only key, which has no ping URLs. Fetch it again with a read-write key, so that jobs need no new address.`,
    );
  }
  return findInAnswer(document, checks, options);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
