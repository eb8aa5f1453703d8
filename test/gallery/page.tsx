import { ButtonLink } from "../../src/ui/buttons";
import { DialogForm } from "../../src/ui/form";
import { EmptyState, Section } from "../../src/ui/blocks";
import type { HtmlDocument, LinkedAssets } from "../../src/ui/documents";
import { PageHead, Pagination } from "../../src/ui/navigation";
import { GalleryCharts } from "./charts";
import { GalleryForms } from "./forms";
import { GalleryKey } from "./key";
import { GalleryMessages } from "./messages";
import { GalleryOrder } from "./order";
import { GalleryPictures } from "./pictures";
import { GalleryRows } from "./rows";
import { GalleryTable } from "./table";
import { GalleryWords } from "./words";
import { GalleryWriting } from "./writing";
import { HOME_PATH, KEYS_PATH, SETTINGS_PATH, USERS_PATH } from "../../src/ui/frame/paths";
import { renderScreen } from "../../src/ui/frame/shell";

/** Path of the gallery on its own server. */
export const GALLERY_PATH = "/gallery";

/** Renders every UI component in every state on one page. `now` is in unix ms. */
export function renderGallery(assets: LinkedAssets, now: number): HtmlDocument {
  return renderScreen({
    title: "Gallery",
    user: {
      name: "Ada Lovelace",
      email: "ada@northwind.example",
      role: "owner",
      timeZone: "UTC",
    },
    places: [
      { href: HOME_PATH, label: "Overview", icon: "layout-dashboard", role: "viewer" },
      { href: GALLERY_PATH, label: "Gallery", icon: "globe", role: "viewer" },
      { href: KEYS_PATH, label: "API Keys", icon: "key-round", role: "admin" },
      { href: USERS_PATH, label: "Users", icon: "users", role: "owner" },
      { href: SETTINGS_PATH, label: "Settings", icon: "settings", role: "admin" },
    ],
    path: HOME_PATH,
    side: {
      worst: {
        name: "Northwind",
        path: "/status/northwind",
        headline: "Partially degraded service",
        tone: "degraded",
      },
      otherPages: 1,
      attention: {},
    },
    now,
    flash: { tone: "ok", text: "Deploy bot was revoked. Its next request is refused." },
    warnings: [
      "Requests come through a proxy that is not trusted, so that all of its clients share one limit. Name its network in ALLCLEAR_TRUSTED_PROXIES.",
    ],
    assets,
    children: (
      <>
        <PageHead
          title="Gallery"
          crumbs={[{ href: HOME_PATH, label: "Dashboard" }, { label: "Development" }]}
          actions={
            <>
              <ButtonLink href={`${GALLERY_PATH}#forms`}>Forms</ButtonLink>
              <ButtonLink href={`${GALLERY_PATH}#dialog`} kind="primary" dialog>
                Open the dialog
              </ButtonLink>
            </>
          }
        >
          Every UI component of the dashboard in every state. <a href="/docs">API reference</a>
        </PageHead>
        <GalleryTable path={GALLERY_PATH} now={now} />
        <Pagination newestHref={GALLERY_PATH} olderHref={`${GALLERY_PATH}?cursor=2`} />
        <EmptyState
          title="No keys yet"
          action={
            <ButtonLink href={GALLERY_PATH} kind="primary">
              Create API Key
            </ButtonLink>
          }
        >
          Programs use keys to read and update your status pages. The first one takes a minute.
        </EmptyState>
        <GalleryWords path={GALLERY_PATH} now={now} />
        <GalleryMessages path={GALLERY_PATH} now={now} />
        <GalleryForms path={GALLERY_PATH} />
        <GalleryRows path={GALLERY_PATH} />
        <GalleryWriting path={GALLERY_PATH} />
        <GalleryPictures path={GALLERY_PATH} icon={assets.icon} />
        <GalleryOrder path={GALLERY_PATH} />
        <GalleryCharts now={now} />
        <GalleryKey />
        <Section title="Dialog">
          <div id="dialog">
            <DialogForm
              title="Revoke Deploy bot"
              action={GALLERY_PATH}
              button="Revoke key"
              isDanger
              cancelHref={GALLERY_PATH}
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
