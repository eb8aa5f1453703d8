import { parseMailAddress } from "../../base/mail-address";
import { roleAllows } from "../../base/actor";
import { invalidFields, Problem } from "../../base/errors";
import { mailReadiness } from "../../features/mail/settings";
import { relayTakesUtf8 } from "../../features/mail/relay-offers";
import type { PageRow } from "../../features/pages/store";
import { takesSubscribers } from "../../features/pages/mail";
import { countSubscribersOfPage } from "../../features/subscribers/list";
import { type InvitationResult, inviteSubscriber } from "../../features/subscribers/team";
import { sessionOf } from "../../http/request-context";
import { Button } from "../../ui/buttons";
import { Notice } from "../../ui/blocks";
import type { AdminDependencies } from "../../ui/frame/dependencies";
import { NoPageYet } from "../../ui/frame/page-choice";
import { SUBSCRIBERS_PATH } from "../../ui/frame/paths";
import { createArea } from "../../ui/screens/area";
import { FormScreen } from "../../ui/screens/form-screen";
import { ShowInstead } from "../../ui/screens/routes";
import { ADD_FORM, choicesOfBody, readChoicesContext } from "./forms";
import { SubscriberList, SubscriberNumbers } from "./list";
import { readPageOf, readSubscriberList } from "./read";
import { newSubscriberPath, subscribersOfPagePath } from "./subscriber-paths";
import { addSubscriberRoutes } from "./subscriber-routes";

/** Returns what has to be done before people can subscribe to a page; undefined if they can. */
function closedText(page: PageRow, isMailReady: boolean): string | undefined {
  if (!isMailReady) {
    return "E-mail is not set up. An owner can set it up in Settings → General → Mail settings.";
  }
  if (takesSubscribers(page)) return undefined;
  return page.visibility === "private"
    ? "The page is private. Make it public first."
    : "The form for e-mail is off. Turn it on in Pages → E-mail.";
}

const REJECTIONS: Readonly<Record<Exclude<InvitationResult["result"], "invited">, string>> = {
  subscribed: "This address is subscribed already.",
  suppressed:
    "This address gets no mails about sign-ups: the person declined them, or an admin blocked the address.",
  limited:
    "This address has had as many mails about sign-ups as the limits allow. Try again later.",
};

/** `/admin/subscribers`: for admins. Editors see the numbers. */
export function subscriberAdminRoutes(deps: AdminDependencies) {
  const { ctx } = deps;
  const area = createArea(deps, SUBSCRIBERS_PATH, "editor");
  const isMailReady = () => mailReadiness(ctx).ready;

  area.screen("", "List subscribers", ({ query, requestContext }) => {
    const title = "Subscribers";
    const { role } = sessionOf(requestContext).user;
    const found = readPageOf(ctx.db, query);
    if (!found) return { title, children: <NoPageYet title={title} role={role} /> };
    const frame = { ...found, role, isMailReady: isMailReady() };
    if (!roleAllows(role, "admin")) {
      const counts = countSubscribersOfPage(ctx.db, found.page.id);
      return { title, children: <SubscriberNumbers {...frame} counts={counts} /> };
    }
    const { now } = requestContext;
    const list = readSubscriberList(ctx.db, found, query, now);
    const props = { ...frame, counts: list.counts, list, now };
    return { title, children: <SubscriberList {...props} /> };
  });

  area.form("/new", {
    showSummary: "Show the form for a new subscriber",
    summary: "Ask a person to subscribe",
    role: "admin",
    form: ADD_FORM,
    conflictField: "email",
    load(reader, { query, requestContext }) {
      const found = readPageOf(reader, query);
      if (found) return readChoicesContext(reader, found.page);
      const { role } = sessionOf(requestContext).user;
      const title = "Add subscriber";
      throw new ShowInstead({ title, children: <NoPageYet title={title} role={role} /> });
    },
    show(state) {
      const { page } = state.context;
      const closed = closedText(page, isMailReady());
      return {
        title: "Add subscriber",
        children: (
          <FormScreen
            title="Add subscriber"
            crumbs={[
              { href: subscribersOfPagePath(page.slug), label: "Subscribers" },
              { label: page.name },
            ]}
            above={
              closed === undefined ? null : (
                <Notice tone="maint" title="This page takes no subscribers now">
                  {closed}
                </Notice>
              )
            }
            form={ADD_FORM}
            state={state}
            action={newSubscriberPath(page.slug)}
          >
            <Button kind="primary">Ask to subscribe</Button>
          </FormScreen>
        ),
      };
    },
    submit(tx, body, actor, _at, { page, choosable }) {
      const address = parseMailAddress(body.email, { allowUtf8Local: relayTakesUtf8(ctx) });
      if ("error" in address) throw invalidFields([{ pointer: "#/email", detail: address.error }]);
      const closed = closedText(page, isMailReady());
      if (closed !== undefined) throw new Problem("conflict", closed);
      const choices = choicesOfBody(body, choosable);
      const invitation = { pageId: page.id, address, choices, source: "dashboard" as const };
      const { result } = inviteSubscriber(ctx, tx, invitation, actor);
      if (result !== "invited") throw new Problem("conflict", REJECTIONS[result]);
      return page.slug;
    },
    done: (slug) => ({
      path: subscribersOfPagePath(slug),
      text: "A mail with a link to confirm is on its way.",
    }),
  });

  addSubscriberRoutes(area, deps);
  return area.routes;
}
