import {
  ButtonLink,
  DialogForm,
  EmptyState,
  type HtmlDocument,
  type LinkedAssets,
  PageHead,
  Pagination,
  Section,
} from "../../ui";
import { DesignCharts } from "./charts";
import { DesignForms } from "./forms";
import { DesignKey } from "./key";
import { DesignMessages } from "./messages";
import { DesignOrder } from "./order";
import { DesignPictures } from "./pictures";
import { DesignRows } from "./rows";
import { DesignTable } from "./table";
import { DesignWords } from "./words";
import { DesignWriting } from "./writing";
import { ACCOUNT_PATH, HOME_PATH, KEYS_PATH, USERS_PATH } from "../paths";
import { renderScreen } from "../shell";

const PATH = "/admin/_design";

/** Renders every UI component in every state on one page. `now` is in unix ms. */
export function renderDesign(assets: LinkedAssets, now: number): HtmlDocument {
  return renderScreen({
    title: "Design",
    user: { name: "Ada Lovelace", email: "ada@northwind.example", role: "owner" },
    nav: [
      {
        items: [
          { href: HOME_PATH, label: "Overview", isCurrent: false },
          { href: PATH, label: "Design", isCurrent: true },
        ],
      },
      {
        label: "Settings",
        items: [
          { href: KEYS_PATH, label: "API Keys", isCurrent: false },
          { href: USERS_PATH, label: "Users", isCurrent: false },
          { href: ACCOUNT_PATH, label: "Account", isCurrent: false },
        ],
      },
    ],
    flash: { tone: "success", text: "Deploy bot was revoked. Its next request is refused." },
    warnings: [
      "Requests come through a proxy that is not trusted, so that all of its clients share one limit. Name its network in ALLCLEAR_TRUSTED_PROXIES.",
    ],
    assets,
    children: (
      <>
        <PageHead
          title="Design"
          crumbs={[{ href: HOME_PATH, label: "Dashboard" }, { label: "Development" }]}
          actions={
            <>
              <ButtonLink href={`${PATH}#forms`}>Forms</ButtonLink>
              <ButtonLink href={`${PATH}#dialog`} kind="primary" dialog>
                Open the dialog
              </ButtonLink>
            </>
          }
        >
          Every component in every state, with what the dashboard is made of.{" "}
          <a href="/docs">API reference</a>
        </PageHead>
        <DesignTable path={PATH} now={now} />
        <Pagination newestHref={PATH} olderHref={`${PATH}?cursor=2`} />
        <EmptyState
          title="No keys yet"
          action={
            <ButtonLink href={PATH} kind="primary">
              Create API Key
            </ButtonLink>
          }
        >
          Programs use keys to read and update your status pages. The first one takes a minute.
        </EmptyState>
        <DesignWords path={PATH} now={now} />
        <DesignMessages path={PATH} now={now} />
        <DesignForms path={PATH} />
        <DesignRows path={PATH} />
        <DesignWriting path={PATH} />
        <DesignPictures path={PATH} icon={assets.icon} />
        <DesignOrder path={PATH} />
        <DesignCharts now={now} />
        <DesignKey />
        <Section title="Dialog">
          <div id="dialog">
            <DialogForm
              title="Revoke Deploy bot?"
              action={PATH}
              button="Revoke key"
              isDanger
              cancelHref={PATH}
              cancel="Keep it"
            >
              <p>
                It made 1,204 requests in the last day. Its next one is refused. A revoked key stays
                in the list and cannot be brought back.
              </p>
            </DialogForm>
          </div>
        </Section>
      </>
    ),
  });
}
