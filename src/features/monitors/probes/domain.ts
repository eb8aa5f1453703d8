import { type Static, Type } from "@sinclair/typebox";
import { parseHost } from "../../../egress/policy";
import { type FieldError, pointer } from "../../../base/errors";
import { LineText } from "../../../base/texts";
import type { Probe } from "../monitoring";
import { mergeFields } from "./fields";
import { includedRdapList, type RdapList, rdapBaseOf, topLevelOf } from "./rdap-list";

const DEFAULT_DAYS = 30;

const DomainConfig = Type.Object(
  {
    domain: LineText({
      minLength: 1,
      maxLength: 255,
      description: "Registered domain, or a name in it.",
      examples: ["example.com"],
    }),
    days: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 365,
        description: `Days before the expiry from which a check warns, without failing. Default: ${DEFAULT_DAYS}; 0 for never.`,
      }),
    ),
  },
  { additionalProperties: false, examples: [{ domain: "example.com", days: 30 }] },
);
type DomainConfig = Static<typeof DomainConfig>;

/** Checks that the registration of a domain has not expired. */
export const domainProbe = {
  type: "domain",
  label: "Domain registration",
  config: DomainConfig,
  shown: DomainConfig,
  // Registries limit how often they answer.
  intervals: { default: 86_400, retry: 3_600, least: 3_600 },
  maxIntervalSeconds: 31_536_000,
  validate: ({ domain }) => validateDomain(domain, includedRdapList()),
  present: ({ domain, days = DEFAULT_DAYS }) => ({ domain, days }),
  merge: mergeFields,
  targetOf: ({ domain }) => domain,
  run: async ({ domain, days = DEFAULT_DAYS }, context) =>
    (await import("./checks/domain")).checkDomain({ domain: nameOf(domain), days }, context),
} satisfies Probe<"domain", DomainConfig>;

/** Returns errors of a domain: it has no owner, or its registry offers no RDAP. */
export function validateDomain(domain: string, list: RdapList): FieldError[] {
  const name = nameOf(domain);
  const hasServer = list.publication === undefined || rdapBaseOf(list, name) !== undefined;
  const detail = !name.includes(".")
    ? "must be a domain such as example.com"
    : hasServer
      ? undefined
      : `is in .${topLevelOf(name)}, whose registry does not tell by RDAP when domains expire`;
  return detail === undefined ? [] : [{ pointer: pointer("domain"), detail }];
}

/** Returns a domain in lower case and ASCII, without a final dot; empty for other text. */
function nameOf(domain: string): string {
  const host = parseHost(domain);
  return host && !host.isAddress ? host.name.replace(/\.$/, "") : "";
}
