import { parseStoredAddress } from "../../base/mail-address";
import { findReport, listUnmatched } from "../../features/mail/reports/store";
import {
  findReportToken,
  makeReportToken,
  revokeReportToken,
} from "../../features/mail/reports/token";
import {
  getSuppressed,
  type ListedSuppression,
  listSuppressed,
  suppressionsOfAddress,
  undoSuppression,
} from "../../features/mail/undo";
import { notFound } from "../../base/errors";
import type { Form } from "../../http/form-body";
import { DialogForm, TextArea } from "../../ui/form";
import type { AdminDependencies } from "../../ui/frame/dependencies";
import { defineForm, type Field } from "../../ui/forms/form";
import { FormFields } from "../../ui/forms/fields";
import { MAIL_PATH } from "../../ui/frame/paths";
import type { Screen } from "../../ui/frame/render";
import type { Area } from "../../ui/screens/area";
import { shownBefore } from "../../ui/screens/form-screen";
import { SUPPRESSIONS_PATH, undoPath } from "./mail-paths";
import { ReportDetail, ReportList, REPORTS_SHOWN } from "./reports";
import { LISTED_REASONS, SuppressionList, UndoText } from "./suppressions";
import { MakeToken, RevealedReportToken, RevokeToken } from "./token";

/** Words of a person who had declined, for an admin who ends that. Other suppressions need none. */
const requestField: Field<string, string, ListedSuppression> = {
  label: "The person’s request",
  initial: "",
  read: (sent, name) => sent.text(name),
  toBody: (typed) => typed,
  fromStored: (text) => text,
  Input: ({ name, value, errors, context }) =>
    context.undo === "request" ? (
      <TextArea
        label="The person’s request"
        hint="In the person’s own words. It is kept in the activity."
        name={name}
        value={value}
        rows={3}
        error={errors[name]}
      />
    ) : null,
};

/** Returns the name of the action that ends a suppression. */
function endTitle(reason: string): string {
  return reason === "blocked" ? "Unblock address" : "End suppression";
}

const UNDO_FORM = defineForm<{ request: string }, ListedSuppression>()({ request: requestField });
const TOKEN_FORM = defineForm<object, { hasToken: boolean }>()({});

/** Adds the screens about what came back: reports, suppressed addresses, and the token for reports. */
export function addReturnRoutes(area: Area, { ctx }: Pick<AdminDependencies, "ctx">): void {
  const now = () => ctx.clock.now();

  area.screen("/reports", "List reports that belong to no mail", ({ query }) => {
    const before = query["before"] || "~";
    const rows = listUnmatched(ctx.db, { before, limit: REPORTS_SHOWN + 1 });
    const list = {
      reports: rows.slice(0, REPORTS_SHOWN),
      hasMore: rows.length > REPORTS_SHOWN,
      isContinued: query["before"] !== undefined,
      now: now(),
    };
    return { title: "Unmatched reports", children: <ReportList {...list} /> };
  });

  area.screen("/reports/:id", "Show a report", ({ params }) => {
    const report = findReport(ctx.db, { id: params.id });
    if (!report || report.mailId !== null) throw notFound("report");
    return { title: "Report", children: <ReportDetail report={report} now={now()} /> };
  });

  area.screen("/suppressions", "List suppressed addresses", ({ query }) => {
    const reason = LISTED_REASONS.find((one) => one === query["reason"]) ?? "bounced";
    const before = readPosition(query["before"]);
    const list = listSuppressed(ctx.db, reason, before, now());
    const props = { ...list, reason, isContinued: before !== undefined, now: now() };
    return { title: "Suppressed addresses", children: <SuppressionList {...props} /> };
  });

  area.form("/suppressions/:reason/:mark", {
    showSummary: "Show the form for ending a suppression",
    summary: "End a suppression",
    form: UNDO_FORM,
    load: (reader, { params }) =>
      getSuppressed(reader, { addressHmac: params.mark, reason: params.reason }, now()),
    show: (state, { params }) => ({
      title: endTitle(params.reason),
      children: (
        <DialogForm
          title={endTitle(params.reason)}
          action={undoPath({ reason: params.reason, addressHmac: params.mark })}
          hidden={state.hidden}
          button={endTitle(params.reason)}
          cancelHref={SUPPRESSIONS_PATH}
        >
          <UndoText suppression={state.context} />
          <FormFields form={UNDO_FORM} state={state} />
        </DialogForm>
      ),
    }),
    submit(tx, { request }, actor, { params }) {
      const { mark, reason } = params;
      undoSuppression(ctx, tx, { addressHmac: mark, reason, request }, actor);
      return reason;
    },
    done: (reason) => ({
      path: `${SUPPRESSIONS_PATH}?reason=${reason}`,
      text: "The address can get mail again.",
    }),
  });

  area.secretForm("/token", {
    showSummary: "Show the confirmation for making the token for reports",
    summary: "Make the token for reports",
    form: TOKEN_FORM,
    load: (reader) => ({ hasToken: findReportToken(reader) !== undefined }),
    show: ({ context, hidden }) => ({
      title: context.hasToken ? "Replace token" : "Create token",
      children: <MakeToken {...context} hidden={hidden} />,
    }),
    create: (tx, _body, actor) => ({ made: makeReportToken(ctx, tx, actor), subjectId: "mail" }),
    reveal(reveal) {
      if ("shownBefore" in reveal) {
        const mail = { href: MAIL_PATH, label: "Mail settings" };
        return shownBefore({
          secret: "token",
          ifLost: "replace it",
          object: { href: MAIL_PATH, label: "Open mail settings" },
          list: mail,
        });
      }
      const page = { token: reveal.revealed, baseUrl: ctx.baseUrl };
      return {
        title: "Token for reports",
        isSecret: true,
        children: <RevealedReportToken {...page} />,
      };
    },
  });

  area.confirmation("/token/revoke", {
    showSummary: "Show the confirmation for revoking the token for reports",
    summary: "Revoke the token for reports",
    show: () =>
      findReportToken(ctx.db)
        ? { title: "Revoke token", children: <RevokeToken /> }
        : { path: MAIL_PATH },
    run: (tx, _at, actor) => revokeReportToken(ctx, tx, actor),
    done: (isChanged) => ({
      path: MAIL_PATH,
      text: isChanged ? "The token was revoked." : undefined,
    }),
  });
}

/** Returns the screen with the suppressions of the address that was typed. */
export function foundAddress(ctx: AdminDependencies["ctx"], sent: Form): Screen {
  const address = sent.text("address").trim();
  const parsed = parseStoredAddress(address, { allowUtf8Local: true });
  const error = "error" in parsed ? `The address ${parsed.error}.` : undefined;
  const now = ctx.clock.now();
  const props = {
    suppressed: error === undefined ? suppressionsOfAddress(ctx.db, address, now) : [],
    search: { address, error },
    reason: undefined,
    hasMore: false,
    isContinued: false,
    now,
  };
  const status = error === undefined ? 200 : 422;
  return { title: "Suppressed addresses", status, children: <SuppressionList {...props} /> };
}

/** Reads the position in the list of suppressions: time and mark of the last one before. */
function readPosition(text = ""): { at: number; addressHmac: string } | undefined {
  const [, at = "", addressHmac = ""] = /^(\d{1,15})\.([\w-]{43})$/.exec(text) ?? [];
  return at === "" ? undefined : { at: Number(at), addressHmac };
}
