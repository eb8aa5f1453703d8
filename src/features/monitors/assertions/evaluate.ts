import { Fault } from "../../../egress";
import { holds } from "./compare";
import { NOTHING, parseJsonPath, valueAt } from "./json-path";
import type { Assertion } from "./model";
import { describeFailure } from "./words";

/** What assertions are made about. */
export interface Observed {
  status: number;
  /** Names in lower case. */
  headers: ReadonlyMap<string, string>;
  latencyMs: number;
  /** Null where no certificate was shown. */
  certificateDays: number | null;
  /** Asked for only where an assertion needs it. */
  body(): Promise<{ bytes: Uint8Array; isCut: boolean } | Fault>;
}

/**
 * What is wrong with an answer by the assertions, as a sentence for people; null if nothing is. Unless
 * one of them is about the status, it must also be 2xx. The sentence never repeats text of the answer.
 */
export async function firstFailure(
  assertions: readonly Assertion[],
  observed: Observed,
): Promise<string | null> {
  const { status } = observed;
  const isStatusAsserted = assertions.some(({ source }) => source === "status");
  if (!isStatusAsserted && (status < 200 || status > 299)) {
    return `The status is ${status}; it should be 2xx.`;
  }
  const body = bodyReader(observed);
  for (const assertion of assertions) {
    const found = await findValue(assertion, observed, body);
    if (found instanceof Fault) return found.message;
    if (!holds(found, assertion.op, assertion.value)) return describeFailure(assertion, found);
  }
  return null;
}

interface BodyReader {
  text(): Promise<string | Fault>;
  json(): Promise<unknown>;
}

async function findValue(
  assertion: Assertion,
  observed: Observed,
  body: BodyReader,
): Promise<unknown> {
  switch (assertion.source) {
    case "status":
      return observed.status;
    case "latency":
      return observed.latencyMs;
    case "certificate_days":
      return observed.certificateDays ?? NOTHING;
    case "header":
      return observed.headers.get(assertion.property.toLowerCase()) ?? NOTHING;
    case "body":
      return body.text();
    case "json": {
      const document = await body.json();
      const path = parseJsonPath(assertion.property);
      if (document instanceof Fault || !path) return document;
      return valueAt(document, path);
    }
  }
}

/** Decompresses, decodes and parses at most once, and only what is asked for. */
function bodyReader(observed: Observed): BodyReader {
  let text: string | Fault | undefined;
  let document: { value: unknown } | undefined;
  let isCut = false;

  async function readText(): Promise<string | Fault> {
    if (text !== undefined) return text;
    const body = await observed.body();
    if (body instanceof Fault) return body;
    isCut = body.isCut;
    text = new TextDecoder().decode(body.bytes);
    return text;
  }

  return {
    text: readText,
    async json() {
      if (document) return document.value;
      const read = await readText();
      if (read instanceof Fault) return read;
      document = { value: isCut ? TOO_LONG : parseJson(read) };
      return document.value;
    },
  };
}

const TOO_LONG = new Fault("protocol", "The body is too long to be read as JSON.");
const NOT_JSON = new Fault("protocol", "The body is not JSON.");

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return NOT_JSON;
  }
}
