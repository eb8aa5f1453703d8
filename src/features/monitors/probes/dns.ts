import { type Static, Type } from "@sinclair/typebox";
import { DNS_RECORD_TYPES, type DnsRecordType, Fault } from "../../../egress/model";
import { hostError, monitorPolicy, parseHost, parseResolver } from "../../../egress/policy";
import { type FieldError, pointer } from "../../../base/errors";
import { LineText } from "../../../base/texts";
import { OneOf } from "../../../base/schema";
import { oneLine } from "../../../base/text";
import type { Probe } from "../monitoring";
import { elapsedMs, failed, mergeFields } from "./fields";

const DEFAULT_TYPE: DnsRecordType = "A";
const EXPECTED_MAX = 50;

const DnsConfig = Type.Object(
  {
    name: LineText({
      minLength: 1,
      maxLength: 255,
      description: "Name, or an IP address for the record type PTR.",
      examples: ["example.com"],
    }),
    record_type: Type.Optional(OneOf(DNS_RECORD_TYPES, { description: "Default: A." })),
    resolver: Type.Optional(
      LineText({
        minLength: 1,
        maxLength: 100,
        description:
          "Address of the DNS server, with a port if it is not 53. Default: that of the system.",
        examples: ["9.9.9.9", "[2620:fe::fe]:53"],
      }),
    ),
    expected: Type.Optional(
      Type.Array(LineText({ minLength: 1, maxLength: 1_000 }), {
        minItems: 1,
        maxItems: EXPECTED_MAX,
        uniqueItems: true,
        description:
          "Records that the answer must contain, written as in zone files. Default: any record.",
      }),
    ),
  },
  {
    additionalProperties: false,
    examples: [{ name: "example.com", record_type: "MX", expected: ["10 mail.example.com"] }],
  },
);
type DnsConfig = Static<typeof DnsConfig>;

/** Checks that a name has records of a type, with the expected values. */
export const dnsProbe = {
  type: "dns",
  label: "DNS record",
  config: DnsConfig,
  shown: DnsConfig,
  // Messages name missing and found records, which internal resolvers may not publish.
  hasPrivateMessages: true,
  validate: validateDns,
  present: ({ record_type = DEFAULT_TYPE, ...config }) => ({ ...config, record_type }),
  merge: mergeFields,
  targetOf: ({ name, record_type = DEFAULT_TYPE }) => `${name} ${record_type}`,
  async run(config, context) {
    const { egress, clock, signal, steps, contact } = context;
    const { name, record_type: type = DEFAULT_TYPE, resolver, expected = [] } = config;
    const startedAt = clock.monotonic();
    const query = { name, type, resolver, policy: "monitor", signal, steps, contact } as const;
    const answer = await egress.query(query);
    if (answer instanceof Fault) return failed(answer);
    const latencyMs = elapsedMs(context, startedAt);
    const problem = compareRecords(type, answer.records, expected);
    return { outcome: problem === null ? "ok" : "failed", latencyMs, message: problem };
  },
} satisfies Probe<"dns", DnsConfig>;

/**
 * Returns errors of name and resolver. Unlike host names, DNS names may contain underscores; the
 * root has no records to check.
 */
function validateDns({ name, resolver }: DnsConfig): FieldError[] {
  const errors: FieldError[] = [];
  if (!/^(?=.{1,254}$)([^\s.]{1,63}\.)*[^\s.]{1,63}\.?$/u.test(name)) {
    errors.push({ pointer: pointer("name"), detail: "must be a name such as example.com" });
  }
  if (resolver !== undefined) {
    const server = parseResolver(resolver);
    const detail = server
      ? hostError(server.address, monitorPolicy)
      : "must be an IP address, with a port if it is not 53";
    if (detail !== undefined) errors.push({ pointer: pointer("resolver"), detail });
  }
  return errors;
}

function compareRecords(
  type: DnsRecordType,
  records: readonly string[],
  expected: readonly string[],
): string | null {
  if (records.length === 0) return "The name has no such record.";
  const found = new Set(records.map((record) => canonical(type, record)));
  const missing = expected.find((record) => !found.has(canonical(type, record)));
  if (missing === undefined) return null;
  return oneLine(`The record ${missing} is missing; there is: ${records.join(", ")}`);
}

/** Returns a record in canonical spelling. Names are case-insensitive, texts are not. */
function canonical(type: DnsRecordType, record: string): string {
  const text = record.trim().replace(/\s+/g, " ");
  if (type === "TXT" || type === "CAA") return text.replace(/^"(.*)"$/, "$1");
  if (type === "A" || type === "AAAA") return parseHost(text)?.name ?? text;
  return text.toLowerCase().replace(/\.(?= |$)/g, "");
}
