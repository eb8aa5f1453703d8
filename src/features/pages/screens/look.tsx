/* The screen with the appearance of a page: theme and colour, logo, favicon, texts and links, CSS. Each is a form. */
import type { Actor } from "../../../base/actor";
import { validate } from "../../../base/validation";
import type { Reader, Tx } from "../../../db/statements";
import { sessionOf } from "../../../http/request-context";
import { Notice } from "../../../ui/blocks";
import { Button, PostButton } from "../../../ui/buttons";
import { DetailCard } from "../../../ui/detail";
import { Actions, FileField, Form } from "../../../ui/form";
import { dateTimeField } from "../../../ui/forms/date-time";
import { checkboxField, FormFields, linesField, textAreaField } from "../../../ui/forms/fields";
import {
  defineForm,
  type Field,
  InvalidInput,
  nullable,
  type StateOf,
} from "../../../ui/forms/form";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { pagePath } from "../../../ui/frame/paths";
import type { Screen } from "../../../ui/frame/render";
import type { Area } from "../../../ui/screens/area";
import { faviconPath, logoPath } from "../addresses";
import { deletePicture, LOGO_MAX_BYTES, type PictureKind, putPicture } from "../logo";
import { LINKS_MAX, lookOf, NOTE_MAX, NOTICE_MAX, PageLookInput } from "../look";
import { addPageErrors, getPage, updatePage, updatePageLook } from "../pages";
import type { PageRow } from "../store";
import { PartialPageInput } from "../wire";
import { LOOK_FORM, pageResource, pageVersion } from "./forms";
import { type AtPage, PageFrame, PagePicture, pageTabTitle } from "./settings";

/** Field for an image file. */
function pictureField(
  label: string,
  hint: string,
): Field<Uint8Array | undefined, Uint8Array, unknown> {
  return {
    label,
    initial: undefined,
    read: (sent, name) => sent.file(name)?.bytes,
    toBody: (bytes) => bytes ?? new InvalidInput("Select a file, then upload it."),
    fromStored: () => undefined,
    Input: ({ name, errors }) => (
      <FileField
        label={label}
        name={name}
        accept={["image/png", "image/jpeg", "image/webp"]}
        maxBytes={LOGO_MAX_BYTES}
        hint={hint}
        error={errors[name]}
      />
    ),
  };
}

const LOGO_FORM = defineForm<{ logo?: Uint8Array }>()({
  logo: pictureField("Logo", "PNG, JPEG or WebP, at most 128 KiB and 2,000 × 2,000 pixels."),
});

const FAVICON_FORM = defineForm<{ favicon?: Uint8Array }>()({
  favicon: pictureField(
    "Favicon",
    "A square in PNG, JPEG or WebP, at most 128 KiB. With 192 × 192 pixels or more it is also the icon on home screens.",
  ),
});

/** Field for links, one a line: the name, then the address. */
function linksField(): Field<string, { name: string; url: string }[], unknown> {
  const lines = linesField({
    label: "Links in the head",
    rows: 3,
    hint: `One per line: name and address, such as “Shop https://shop.example.com”. At most ${LINKS_MAX}.`,
  });
  return {
    ...lines,
    toBody: (typed, context) =>
      (lines.toBody(typed, context) as string[]).map((line) => {
        const [, name = "", url = line] = /^(.*)\s(\S+)$/.exec(line) ?? [];
        return { name: name.trim(), url };
      }),
    fromStored: (links) => links.map(({ name, url }) => `${name} ${url}`).join("\n"),
    showError({ pointer, detail }) {
      const [, index, part] = /^#\/links\/(\d+)(?:\/(name|url))?$/.exec(pointer) ?? [];
      if (index === undefined) return { detail };
      const what = part === "name" ? "The name" : part === "url" ? "The address" : "It";
      return { detail: `Line ${Number(index) + 1}: ${what} ${detail}` };
    },
  };
}

const defineLook = defineForm<PageLookInput, { page: PageRow }>();

const TEXTS_FORM = defineLook({
  notice: nullable(
    textAreaField({
      label: "Notice",
      rows: 2,
      maxlength: NOTICE_MAX,
      hint: "Optional. Stands above everything until it ends, in Markdown.",
    }),
  ),
  notice_until: nullable(
    dateTimeField({ label: "End of the notice", hint: "From then on it is not shown." }),
  ),
  header: nullable(
    textAreaField({
      label: "Text above the content",
      rows: 3,
      maxlength: NOTE_MAX,
      hint: "Optional, in Markdown.",
    }),
  ),
  footer: nullable(
    textAreaField({
      label: "Text below the content",
      rows: 3,
      maxlength: NOTE_MAX,
      hint: "Optional, in Markdown.",
    }),
  ),
  links: linksField(),
  hide_uptime: checkboxField({
    label: "Hide uptime",
    hint: "The page then has neither bars nor figures of uptime. They stay in the API and in Analytics.",
  }),
  hide_history: checkboxField({
    label: "Hide history",
    hint: "The page then does not list past incidents. Their own addresses and the feeds still work.",
  }),
});

const CSS_FORM = defineLook({
  custom_css: nullable(
    textAreaField({
      label: "CSS",
      rows: 10,
      hint: "Optional, at most 20 kB. Selectors apply to the content of the page: start with main, .banner or .card, or with :root for colours. Nothing is loaded from other hosts.",
    }),
  ),
});

/** States of the forms of the screen. A form without a state shows the stored values. */
interface LookStates {
  look?: StateOf<typeof LOOK_FORM>;
  logo?: StateOf<typeof LOGO_FORM>;
  favicon?: StateOf<typeof FAVICON_FORM>;
  texts?: StateOf<typeof TEXTS_FORM>;
  css?: StateOf<typeof CSS_FORM>;
}

/** Adds the screen with the appearance of a page, and its forms. */
export function addPageLookRoutes(area: Area, { ctx }: AdminDependencies): void {
  const lookPath = ({ params }: AtPage) => pagePath(params.id, "look");

  function screen({ requestContext }: AtPage, page: PageRow, states: LookStates): Screen {
    const version = pageVersion(page);
    const own = lookOf(page);
    const {
      look = LOOK_FORM.state(LOOK_FORM.stored(pageResource(page)), {}, version),
      logo = LOGO_FORM.state(LOGO_FORM.initial(), {}),
      favicon = FAVICON_FORM.state(FAVICON_FORM.initial(), {}),
      texts = TEXTS_FORM.state(TEXTS_FORM.stored(own), { page }, version),
      css = CSS_FORM.state(CSS_FORM.stored(own), { page }, version),
    } = states;
    return {
      title: pageTabTitle(page, "look"),
      children: (
        <PageFrame page={page} tab="look" role={sessionOf(requestContext).user.role}>
          <ThemeCard page={page} state={look} />
          <PictureCard kind="logo" page={page} form={LOGO_FORM} state={logo} />
          <PictureCard kind="favicon" page={page} form={FAVICON_FORM} state={favicon} />
          <TextsCard page={page} state={texts} />
          <CssCard page={page} state={css} />
        </PageFrame>
      ),
    };
  }

  area.editForm("/:id/look", {
    role: "admin",
    form: LOOK_FORM,
    load(reader: Reader, { params }: AtPage) {
      const page = getPage(reader, params.id);
      return { resource: pageResource(page), version: page.version, context: { page } };
    },
    update(tx, changes, actor, { params }) {
      const body = validate(PartialPageInput, changes, addPageErrors);
      updatePage(ctx, tx, params.id, body, actor);
    },
    show: (look, at) => screen(at, look.context.page, { look }),
    done: (at) => ({ path: lookPath(at), text: "The appearance was changed." }),
  });

  const ofLook = {
    role: "admin",
    back: lookPath,
    load(reader: Reader, { params }: AtPage) {
      const page = getPage(reader, params.id);
      return { resource: lookOf(page), version: page.version, context: { page } };
    },
    update(tx: Tx, changes: PageLookInput, actor: Actor, { params }: AtPage) {
      updatePageLook(ctx, tx, params.id, validate(PageLookInput, changes), actor);
    },
  } as const;

  area.editForm("/:id/texts", {
    ...ofLook,
    form: TEXTS_FORM,
    show: (texts, at) => screen(at, texts.context.page, { texts }),
    done: (at) => ({ path: lookPath(at), text: "The texts were changed." }),
  });

  area.editForm("/:id/css", {
    ...ofLook,
    form: CSS_FORM,
    show: (css, at) => screen(at, css.context.page, { css }),
    done: (at) => ({ path: lookPath(at), text: "The CSS was changed." }),
  });

  const ofPicture = {
    role: "admin",
    takesFiles: true,
    back: lookPath,
    load: (reader: Reader, { params }: AtPage) => ({
      resource: { logo: null, favicon: null },
      version: null,
      context: { page: getPage(reader, params.id) },
    }),
  } as const;

  area.editForm("/:id/logo", {
    ...ofPicture,
    form: LOGO_FORM,
    show: (logo, at) => screen(at, logo.context.page, { logo }),
    update(tx, { logo: bytes }, actor, { params }) {
      if (bytes) putPicture(ctx, tx, "logo", params.id, { bytes }, actor);
    },
    done: (at) => ({ path: lookPath(at), text: "The logo was changed." }),
  });

  area.editForm("/:id/favicon", {
    ...ofPicture,
    form: FAVICON_FORM,
    show: (favicon, at) => screen(at, favicon.context.page, { favicon }),
    update(tx, { favicon: bytes }, actor, { params }) {
      if (bytes) putPicture(ctx, tx, "favicon", params.id, { bytes }, actor);
    },
    done: (at) => ({ path: lookPath(at), text: "The favicon was changed." }),
  });

  for (const kind of ["logo", "favicon"] as const) {
    area.action(`/:id/${kind}/remove`, {
      role: "admin",
      run(tx, { params: { id } }, actor) {
        const hadPicture = getPage(tx, id)[kind] !== null;
        if (hadPicture) deletePicture(ctx, tx, kind, id, actor);
        return hadPicture;
      },
      done: (hadPicture, at) => ({
        path: lookPath(at),
        text: hadPicture ? `The ${kind} was removed.` : undefined,
      }),
    });
  }
}

/** Form for a page's theme and accent colour. */
function ThemeCard({ page, state }: { page: PageRow; state: StateOf<typeof LOOK_FORM> }) {
  return (
    <DetailCard title="Theme and colour" liveId="page-look" isStill>
      <Form action={pagePath(page.id, "look")} hidden={state.hidden}>
        <FormFields form={LOOK_FORM} state={state} />
        <Actions>
          <Button>Save appearance</Button>
        </Actions>
      </Form>
    </DetailCard>
  );
}

/** Card of a picture, which is saved when it is uploaded. */
function PictureCard<Kind extends PictureKind>(props: {
  kind: Kind;
  page: PageRow;
  form: typeof LOGO_FORM | typeof FAVICON_FORM;
  state: StateOf<typeof LOGO_FORM> | StateOf<typeof FAVICON_FORM>;
}) {
  const { kind, page, state } = props;
  const action = pagePath(page.id, kind);
  const path = kind === "logo" ? logoPath(page) : faviconPath(page);
  const form = props.form as typeof LOGO_FORM;
  return (
    <DetailCard
      title={kind === "logo" ? "Page logo" : "Favicon"}
      liveId={`page-${kind}`}
      isStill
      end={
        path === null ? null : (
          <PostButton action={`${action}/remove`} kind="danger">
            Remove {kind}
          </PostButton>
        )
      }
    >
      <PagePicture page={page} path={path} />
      <Form action={action} hidden={state.hidden} sendsFiles>
        <FormFields form={form} state={state as StateOf<typeof LOGO_FORM>} />
        <Actions>
          <Button>{`${path === null ? "Upload" : "Replace"} ${kind}`}</Button>
        </Actions>
      </Form>
    </DetailCard>
  );
}

/** Form for a page's notice, notes and links, and for what it hides. */
function TextsCard({ page, state }: { page: PageRow; state: StateOf<typeof TEXTS_FORM> }) {
  return (
    <DetailCard title="Texts and links" liveId="page-texts" isStill>
      <Form action={pagePath(page.id, "texts")} hidden={state.hidden}>
        <FormFields form={TEXTS_FORM} state={state} />
        <Actions>
          <Button>Save texts</Button>
        </Actions>
      </Form>
    </DetailCard>
  );
}

/** Form for a page's CSS, with what was cut from the stored one. */
function CssCard({ page, state }: { page: PageRow; state: StateOf<typeof CSS_FORM> }) {
  const { cut = [] } = page.look;
  return (
    <DetailCard title="CSS of your own" liveId="page-css" isStill>
      <Form action={pagePath(page.id, "css")} hidden={state.hidden}>
        {cut.length === 0 ? null : (
          <Notice tone="degraded" title="The page leaves out parts of the saved CSS">
            <ul>
              {cut.map((part) => (
                <li key={part}>
                  <code>{part}</code>
                </li>
              ))}
            </ul>
          </Notice>
        )}
        <FormFields form={CSS_FORM} state={state} />
        <Actions>
          <Button>Save CSS</Button>
        </Actions>
      </Form>
    </DetailCard>
  );
}
