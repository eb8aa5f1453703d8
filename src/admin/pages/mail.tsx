import { roleAllows } from "../../base/actor";
import { mailReadiness } from "../../features/mail/settings";
import { getPage, updatePageMail } from "../../features/pages/service";
import { MAIL_FOOTER_MAX, mailSettingsOf, type PageMailInput } from "../../features/pages/mail";
import type { PageRow } from "../../features/pages/store";
import { sessionOf } from "../../http/request-context";
import { Actions, Form } from "../../ui/form";
import { Button } from "../../ui/buttons";
import { DetailCard } from "../../ui/detail";
import { Notice } from "../../ui/blocks";
import type { AdminDependencies } from "../../ui/frame/dependencies";
import {
  checkboxField,
  choiceField,
  FormFields,
  textAreaField,
  textField,
} from "../../ui/forms/fields";
import { defineForm, nullable, type StateOf } from "../../ui/forms/form";
import type { Area } from "../../ui/screens/area";
import { MAIL_PATH } from "../../ui/frame/paths";
import { subscribersOfPagePath } from "../subscribers/subscriber-paths";
import { PageFrame, pageTabPath, pageTabTitle } from "./frame";

const MAIL_FORM = defineForm<PageMailInput, { page: PageRow }>()({
  subscriptions: checkboxField({
    label: "Visitors can subscribe by e-mail",
    hint: "The subscribe page then has a form. If unchecked, people who subscribed still get messages.",
  }),
  from_name: nullable(
    textField({
      label: "Name of the sender",
      maxlength: 255,
      hint: "Optional. By default the name of the page.",
    }),
  ),
  reply_to: nullable(
    textField({
      label: "Address for replies",
      type: "email",
      hint: "Optional. By default the one of the relay’s settings.",
    }),
  ),
  subject: choiceField<NonNullable<PageMailInput["subject"]>>({
    label: "Subject",
    initial: "thread",
    options: [
      {
        value: "thread",
        label: "Name of the incident",
        hint: "Mail programs show all messages about an incident as one conversation.",
      },
      {
        value: "status",
        label: "Status and name of the incident",
        hint: "The list of messages shows each status, and each message stands alone.",
      },
    ],
  }),
  footer: nullable(
    textAreaField({
      label: "Text at the end",
      rows: 3,
      maxlength: MAIL_FOOTER_MAX,
      hint: "Optional. Plain text at the end of every message, such as a postal address.",
    }),
  ),
});

/** Adds the screen with a page's settings about e-mail. */
export function addPageMailRoutes(area: Area, { ctx }: AdminDependencies): void {
  area.editForm("/:id/mail", {
    showSummary: "Show the form for a page's e-mail",
    summary: "Change a page's settings about e-mail",
    role: "admin",
    form: MAIL_FORM,
    load(reader, { params }: { params: { id: string } }) {
      const page = getPage(reader, params.id);
      return { resource: mailSettingsOf(page), version: page.version, context: { page } };
    },
    update(tx, changes, actor, { params }) {
      updatePageMail(ctx, tx, params.id, changes, actor);
    },
    show(state, { requestContext }) {
      const { page } = state.context;
      const { role } = sessionOf(requestContext).user;
      return {
        title: pageTabTitle(page, "mail"),
        children: (
          <PageFrame page={page} tab="mail" role={role}>
            {mailReadiness(ctx).ready ? null : <NotReady canSetUp={roleAllows(role, "owner")} />}
            <MailSettings page={page} state={state} />
          </PageFrame>
        ),
      };
    },
    done: ({ params }) => ({
      path: pageTabPath(params.id, "mail"),
      text: "The settings about e-mail were changed.",
    }),
  });
}

/** Notice while no mail can be sent. */
function NotReady({ canSetUp }: { canSetUp: boolean }) {
  return (
    <Notice tone="maint" title="E-mail is not set up">
      Visitors see no form, and no messages are sent.{" "}
      {canSetUp ? <a href={MAIL_PATH}>Set up e-mail</a> : "An owner can set it up."}
    </Notice>
  );
}

/** Form for the messages of a page by e-mail. */
function MailSettings({ page, state }: { page: PageRow; state: StateOf<typeof MAIL_FORM> }) {
  return (
    <DetailCard
      title="E-mail"
      liveId="page-mail"
      isStill
      end={<a href={subscribersOfPagePath(page.slug)}>Subscribers</a>}
    >
      <Form action={pageTabPath(page.id, "mail")} hidden={state.hidden}>
        <FormFields form={MAIL_FORM} state={state} />
        <Actions>
          <Button kind="primary">Save changes</Button>
        </Actions>
      </Form>
    </DetailCard>
  );
}
