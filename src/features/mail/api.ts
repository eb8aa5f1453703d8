import { Elysia } from "elysia";
import { invalidFields } from "../../base/errors";
import type { Ctx } from "../../context";
import type { RequestContexts } from "../../http/elysia";
import { operation } from "../../http/operation";
import { jsonOrRawBody } from "../../http/raw-body";
import { NO_STORE } from "../../http/representation";
import { JsonReports, readJsonReports } from "./reports/read-message";
import { type Finding, isReportToken, takeReport } from "./reports/reports";

const REPORT_MAX_BYTES = 900 * 1024;

/** Number of reports in one transaction, which keeps it short. */
const REPORTS_PER_BATCH = 50;

const DESCRIPTION =
  "Takes a report as it came by mail (`message/rfc822`): a delivery status (RFC 3464) or a complaint (RFC 5965). The mail is found by its envelope sender, by the envelope id, or by the `Message-ID` of the returned message; an address in it changes nothing. A service sends up to 500 reports as JSON, by mail or by address. Delays, receipts and automatic replies are ignored. Sending a report again changes nothing.";

/** `/api/v1/mail/bounces`: reports about mails that came back, with the token in the path or as bearer. */
export function mailReportRoutes(ctx: Ctx, requestContexts: RequestContexts) {
  async function take(body: Parameters<typeof readJsonReports>[0] | Uint8Array): Promise<Response> {
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
  return new Elysia({ prefix: "/api/v1/mail" })
    .use(requestContexts.plugin)
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
  const { readMessage } = await import("./reports/read-message");
  const finding = await readMessage(message);
  return finding === "ignored" ? [] : [finding];
}

function readJson(body: Parameters<typeof readJsonReports>[0]): Finding[] {
  const { findings, nameless } = readJsonReports(body);
  if (nameless.length === 0) return findings;
  const detail = "is needed without an address";
  throw invalidFields(nameless.map((index) => ({ pointer: `#/reports/${index}/mail`, detail })));
}
