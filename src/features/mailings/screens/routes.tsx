import { conflict, notFound } from "../../../base/errors";
import { plural } from "../../../base/text";
import type { Reader } from "../../../db/statements";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { mailingPath, MAILINGS_PATH } from "../../../ui/frame/paths";
import type { Screen } from "../../../ui/frame/render";
import { createArea } from "../../../ui/screens/area";
import {
  findMailHold,
  listMailHolds,
  releaseAllMailings,
  suppressionsOfHold,
  undoSuppressions,
} from "../../mail/hold";
import { findPage } from "../../pages/store";
import { getMailing, nameOfSubject } from "../lists";
import { releaseHeldMailings, releaseMailing, stopMailing } from "../mailings";
import { listFailedMails } from "../store";
import { ALL_FIELD, HoldSuppressions, MAIL_FIELD, MailingDetail, type MailingView } from "./detail";
import { countAddresses, MailingList, readMailingList } from "./list";
import { eventWords, figure, suppressionsPath } from "./words";

const FAILED_PER_SCREEN = 50;

/** `/admin/mailings`: for admins. */
export function mailingAdminRoutes(deps: AdminDependencies) {
  const { ctx } = deps;
  const area = createArea(deps, MAILINGS_PATH, "admin");

  area.screen("", ({ query, requestContext: { now } }) => ({
    title: "Mailings",
    children: <MailingList list={readMailingList(ctx.db, query, now)} now={now} />,
  }));

  area.action("/go-on", {
    run: (tx, _, actor) => releaseAllMailings(ctx, tx, actor),
    done: (isChanged) => ({
      path: MAILINGS_PATH,
      text: isChanged ? "All mailings were released." : undefined,
    }),
  });

  area.longAction("/pages/:id/release", {
    async run(write, { params }, actor) {
      const page = findPage(ctx.db, { id: params.id });
      if (!page) throw notFound("page");
      return releaseHeldMailings(ctx, page, write, actor);
    },
    done: (count) => ({
      path: MAILINGS_PATH,
      text:
        count === 0
          ? "No mailing can be released: newer ones were sent, or their time is over."
          : `${plural(count, "mailing")} ${count === 1 ? "was" : "were"} released.`,
    }),
  });

  area.screen("/holds/:at", ({ params, requestContext }) =>
    showSuppressions(ctx.db, params.at, { now: requestContext.now }),
  );

  area.action("/holds/:at", {
    run(tx, { params, sent }, actor) {
      const hold = holdOf(tx, params.at);
      const isAll = sent.text(ALL_FIELD) === "yes";
      const mailIds = isAll
        ? suppressionsOfHold(tx, hold, ctx.clock.now()).map(({ mailId }) => mailId ?? "")
        : sent.all(MAIL_FIELD);
      if (mailIds.length === 0) {
        throw conflict("Select at least one address.");
      }
      return undoSuppressions(ctx, tx, hold, new Set(mailIds), actor);
    },
    done: (count, { params }) => ({
      path: suppressionsPath(Number(params.at)),
      text: count === 0 ? undefined : `${countAddresses(count)} can get mail again.`,
    }),
    showConflict: (error, { params, requestContext: { now } }) =>
      showSuppressions(ctx.db, params.at, { now, error }),
  });

  area.screen("/:id", ({ params, query, requestContext: { now } }) =>
    showMailing(ctx.db, params.id, { after: query["after"], now }),
  );

  area.confirmation("/:id/stop", {
    show({ params: { id } }) {
      const row = getMailing(ctx.db, id);
      if (row.state === "done" || row.state === "stopped") return { path: mailingPath(id) };
      const subjectName = nameOfSubject(ctx.db, row);
      return {
        title: "Stop this mailing",
        button: "Stop this mailing",
        isDanger: true,
        dialog: (
          <p>
            {eventWords(row)}
            {subjectName === undefined ? "" : `: ${subjectName}`}. Mails that have not been sent are
            cancelled within a second
            {row.sent === 0 ? "" : `; the relay has ${figure(row.sent)} already`}. Later mailings
            are not affected.
          </p>
        ),
      };
    },
    run: (tx, { params }, actor) => stopMailing(ctx, tx, params.id, actor),
    done: (_, { params }) => ({ path: mailingPath(params.id), text: "The mailing was stopped." }),
    showConflict: (rejection, { params, requestContext: { now } }) =>
      showMailing(ctx.db, params.id, { now, rejection }),
  });

  area.action("/:id/release", {
    run: (tx, { params }, actor) => releaseMailing(ctx, tx, params.id, actor),
    done: (_, { params }) => ({ path: mailingPath(params.id), text: "The mailing was released." }),
    showConflict: (rejection, { params, requestContext: { now } }) =>
      showMailing(ctx.db, params.id, { now, rejection }),
  });

  return area.routes;
}

/** Returns the hold that began at a time in a path (unix ms). Throws `not_found`. */
function holdOf(reader: Reader, at: string) {
  const hold = listMailHolds(reader).find((one) => String(one.at) === at);
  if (!hold) throw notFound("hold of mailings");
  return hold;
}

function showSuppressions(
  reader: Reader,
  at: string,
  { now, error }: { now: number; error?: string },
): Screen {
  const hold = holdOf(reader, at);
  const suppressions = suppressionsOfHold(reader, hold, now);
  return {
    title: "Suppressed addresses",
    children: <HoldSuppressions {...{ hold, suppressions, error, now }} />,
  };
}

function showMailing(
  reader: Reader,
  id: string,
  { after, now, rejection }: { after?: string | undefined; now: number; rejection?: string },
): Screen {
  const row = getMailing(reader, id);
  const failed = listFailedMails(reader, {
    mailingId: id,
    after: after ?? "",
    limit: FAILED_PER_SCREEN + 1,
  });
  const shown = failed.slice(0, FAILED_PER_SCREEN);
  const view: MailingView = {
    row,
    subjectName: nameOfSubject(reader, row),
    page: findPage(reader, { id: row.pageId }),
    hold: findMailHold(reader),
    failed: shown,
    isContinued: after !== undefined,
    nextAfter: failed.length > FAILED_PER_SCREEN ? shown.at(-1)?.id : undefined,
  };
  return {
    title: eventWords(row),
    children: <MailingDetail view={view} now={now} rejection={rejection} />,
  };
}
