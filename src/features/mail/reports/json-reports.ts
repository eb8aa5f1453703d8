import { type Static, Type } from "@sinclair/typebox";
import { parseStoredAddress } from "../../../base/mail-address";
import { InstantText, Nullable, OneOf, Text } from "../../../base/schema";
import { parseInstant } from "../../../base/time";
import { cleanReply } from "../smtp/reply";
import type { Finding } from "./finding";

const REPORTS_MAX = 500;
const JSON_MAIL_ID = "^eml_[0-9a-z]{26}$";

const JsonReport = Type.Object(
  {
    mail: Type.Optional(
      Nullable(
        Text({ pattern: JSON_MAIL_ID, description: "Id of the mail, from its `Message-ID`." }),
      ),
    ),
    address: Type.Optional(
      Nullable(
        Text({
          maxLength: 254,
          description: "Address that the mail went to. Needed without `mail`.",
          check: addressError,
          examples: ["ada@example.com"],
        }),
      ),
    ),
    kind: OneOf(["hard", "soft", "complaint"], {
      description:
        "`hard`: the address does not exist; it gets no more mail. `soft`: the mail failed for another reason. `complaint`: the person reported it as spam.",
    }),
    status: Type.Optional(
      Nullable(
        Text({
          pattern: "^[245]\\.\\d{1,3}\\.\\d{1,3}$",
          description: "Enhanced status code (RFC 3463).",
          examples: ["5.1.1"],
        }),
      ),
    ),
    occurred_at: Type.Optional(
      Nullable(
        InstantText({
          description:
            "Time at which the mail failed or the person complained, by default the time at which the mail was sent. What happened before suppressions of the address last ended does not suppress it again.",
        }),
      ),
    ),
    diagnostic: Type.Optional(
      Nullable(Text({ maxLength: 2_000, description: "Words of the server that refused it." })),
    ),
  },
  { additionalProperties: false },
);

/** Reports of an authenticated service. */
export const JsonReports = Type.Object(
  { reports: Type.Array(JsonReport, { maxItems: REPORTS_MAX }) },
  { additionalProperties: false, title: "MailReports" },
);

/** Returns the findings of valid reports, and the positions of those that name neither mail nor address. */
export function readJsonReports({ reports }: Static<typeof JsonReports>): {
  findings: Finding[];
  nameless: number[];
} {
  const nameless = reports.flatMap(({ mail = null, address = null }, index) =>
    mail === null && address === null ? [index] : [],
  );
  const findings = reports.map((report): Finding => {
    const { mail = null, address = null, kind, status = null, diagnostic } = report;
    const { occurred_at: occurredAt } = report;
    return {
      kind,
      isCertain: true,
      status,
      diagnostic: cleanReply(diagnostic ?? ""),
      mails: mail === null ? [] : [{ id: mail }],
      address: address ?? undefined,
      at: occurredAt == null ? undefined : parseInstant(occurredAt),
      excerpt: JSON.stringify(report, null, 2),
    };
  });
  return { findings, nameless };
}

function addressError(text: string): string | undefined {
  const parsed = parseStoredAddress(text, { allowUtf8Local: true });
  return "error" in parsed ? parsed.error : undefined;
}
