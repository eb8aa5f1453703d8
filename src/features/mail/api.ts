import { type Static, Type } from "@sinclair/typebox";
import { invalidFields } from "../../base/errors";
import { parseStoredAddress } from "../../base/mail-address";
import { InstantText, Nullable, OneOf, Text } from "../../base/schema";
import { parseInstant } from "../../base/time";
import type { Ctx } from "../../context";
import { declareRoutes } from "../../http/elysia";
import { operation } from "../../http/operation";
import { jsonOrRawBody } from "../../http/json-body";
import { NO_STORE } from "../../http/representation";
import { type Finding, isReportToken, takeReport } from "./reports";
import { cleanReply } from "./reply";

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
const JsonReports = Type.Object(
  { reports: Type.Array(JsonReport, { maxItems: REPORTS_MAX }) },
  { additionalProperties: false, title: "MailReports" },
);

type Reports = Static<typeof JsonReports>;

function addressError(text: string): string | undefined {
  const parsed = parseStoredAddress(text, { allowUtf8Local: true });
  return "error" in parsed ? parsed.error : undefined;
}

const REPORT_MAX_BYTES = 900 * 1024;

/** Number of reports in one transaction, which keeps it short. */
const REPORTS_PER_BATCH = 50;

const DESCRIPTION =
  "Takes a report as it came by mail (`message/rfc822`): a delivery status (RFC 3464) or a complaint (RFC 5965). The mail is found by its envelope sender, by the envelope id, or by the `Message-ID` of the returned message; an address in it changes nothing. A service sends up to 500 reports as JSON, by mail or by address. Delays, receipts and automatic replies are ignored. Sending a report again changes nothing.";

/** `/api/v1/mail/bounces`: reports about mails that came back, with the token in the path or as bearer. */
export function mailReportRoutes(ctx: Ctx) {
  async function take(body: Reports | Uint8Array): Promise<Response> {
    const findings = body instanceof Uint8Array ? await readRaw(body) : readJson(body);
    for (let from = 0; from < findings.length; from += REPORTS_PER_BATCH) {
      const some = findings.slice(from, from + REPORTS_PER_BATCH);
      await ctx.db.write((tx) => {
        for (const finding of some) takeReport(ctx, tx, finding);
      });
    }
    return new Response(null, { status: 204, headers: { "Cache-Control": NO_STORE } });
  }

  const declared = (id: string, summary: string) => ({
    ...jsonOrRawBody(JsonReports, { mediaType: "message/rfc822", maxBytes: REPORT_MAX_BYTES }),
    ...operation({
      id,
      tag: "E-mail",
      summary,
      description: DESCRIPTION,
      access: { kind: "reporter", isToken: (token) => isReportToken(ctx.db, token) },
      answers: { 204: { description: "The reports were taken." } },
    }),
  });
  return declareRoutes("/api/v1/mail")
    .post(
      "/bounces/:token",
      ({ body }) => take(body),
      declared("reportMails", "Report bounces and complaints"),
    )
    .post(
      "/bounces",
      ({ body }) => take(body),
      declared("reportMailsAsBearer", "Report bounces and complaints, with the token as bearer"),
    );
}

async function readRaw(message: Uint8Array): Promise<Finding[]> {
  // The parser is loaded with the first message.
  const { readMessage } = await import("./read-message");
  const finding = await readMessage(message);
  return finding === "ignored" ? [] : [finding];
}

/** Returns the findings of valid reports. Throws `validation_failed` if some name neither mail nor address. */
function readJson({ reports }: Reports): Finding[] {
  const nameless = reports.flatMap(({ mail = null, address = null }, index) =>
    mail === null && address === null ? [index] : [],
  );
  if (nameless.length > 0) {
    const detail = "is needed without an address";
    throw invalidFields(nameless.map((index) => ({ pointer: `#/reports/${index}/mail`, detail })));
  }
  return reports.map((report): Finding => {
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
}
