import { sendHtml } from "../http/answers";
import { linkedAssets } from "../ui/assets";
import { Notice } from "../ui/blocks";
import { Button } from "../ui/buttons";
import {
  createPageCache,
  type HtmlDocument,
  PlainPage,
  renderLinkedDocument,
} from "../ui/documents";
import { Actions, Form, TextField } from "../ui/form";
import { pageWordsOf } from "../ui/words";

/** The form for the password of a private page, as the answer of a route. */
export const PASSWORD_FORM = {
  description: "The form for the password of a private page.",
  mediaType: "text/html",
  headers: { "WWW-Authenticate": "The scheme `Cookie`, with the path of the form." },
} as const;

/** Path to which the password of the page at `/` is sent. It tells no slug. */
export const HOME_ACCESS_PATH = "/access";

/** Path to which the password of a page is sent. */
export function accessPath(slug: string): string {
  return `/status/${slug}/access`;
}

interface PasswordForm {
  /** Locale of the page. */
  locale: string;
  /** Path to which it is sent. */
  action: string;
  /** Path of the page to open after it. */
  next: string;
  error?: PasswordError;
}

/** Reason for which the form is shown again, with the seconds to wait. */
type PasswordError = { key: "private.wrong" } | { key: "private.wait"; seconds: number };

/** Longest path that a form keeps. */
export const NEXT_MAX_LENGTH = 500;

/** Placeholder of the path in a cached form, since strangers can ask for any number of paths. */
const NEXT_PLACEHOLDER = "{next}";

/**
 * Creates the answers with the form for the password of a private page: 401, unless it was sent and refused. It shows
 * nothing of the page.
 */
export function createPasswordPages() {
  const render = createPageCache(renderPasswordPage);
  return (
    request: Request,
    { next, ...form }: PasswordForm,
    refused?: { status: number; headers?: Record<string, string> },
  ): Response => {
    const { html, policy } = render({ ...form, next: NEXT_PLACEHOLDER });
    const challenge = `Cookie realm="allclear", form-action="${form.action}"`;
    return sendHtml(
      request,
      { html: html.replace(NEXT_PLACEHOLDER, () => Bun.escapeHTML(next)), policy },
      refused ?? { status: 401, headers: { "WWW-Authenticate": challenge } },
    );
  };
}

function renderPasswordPage({ locale, action, next, error }: PasswordForm): HtmlDocument {
  const words = pageWordsOf(locale);
  const { t, say } = words;
  const title = t("private.title");
  return renderLinkedDocument({
    title,
    words,
    assets: linkedAssets(),
    children: (
      <PlainPage title={title}>
        <p>{say("private.text")}</p>
        {error === undefined ? null : (
          <div role="alert">
            <Notice tone="major">
              {error.key === "private.wait"
                ? say("private.wait", { seconds: error.seconds })
                : say(error.key)}
            </Notice>
          </div>
        )}
        <Form action={action} hidden={{ next }}>
          <TextField
            label={t("private.password")}
            name="password"
            type="password"
            autocomplete="current-password"
            required
            autofocus
          />
          <Actions>
            <Button kind="primary">{say("private.open")}</Button>
          </Actions>
        </Form>
      </PlainPage>
    ),
  });
}
