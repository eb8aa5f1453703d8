import { GRANT_DAYS } from "../features/pages/visits";
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
import { controlAttributes, Field, FieldError } from "../ui/field";
import { Actions, Form } from "../ui/form";
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
  /** Address of the visitor, which the networks of the page do not admit. */
  address: string;
  error?: PasswordError;
}

/** Reason for which the form is shown again, with the seconds to wait. */
type PasswordError = { key: "private.wrong" } | { key: "private.wait"; seconds: number };

/** Longest path that a form keeps. */
export const NEXT_MAX_LENGTH = 500;

/** Placeholders in a cached form, since strangers can ask for any number of paths, from any number of addresses. */
const PLACEHOLDERS = { next: "{next}", address: "{address}" } as const;

/**
 * Creates the answers with the form for the password of a private page: 401, unless it was sent and refused. It shows
 * nothing of the page.
 */
export function createPasswordPages() {
  const render = createPageCache(renderPasswordPage);
  return (
    request: Request,
    { next, address, ...form }: PasswordForm,
    refused?: { status: number; headers?: Record<string, string> },
  ): Response => {
    const { html, policy } = render({ ...form, ...PLACEHOLDERS });
    const challenge = `Cookie realm="allclear", form-action="${form.action}"`;
    // The address first, since strangers write the path.
    const filled = html
      .replace(PLACEHOLDERS.address, () => Bun.escapeHTML(address))
      .replace(PLACEHOLDERS.next, () => Bun.escapeHTML(next));
    return sendHtml(
      request,
      { html: filled, policy },
      refused ?? { status: 401, headers: { "WWW-Authenticate": challenge } },
    );
  };
}

const TEXT_ID = "private-text";

function renderPasswordPage(props: PasswordForm): HtmlDocument {
  const { locale, action, next, address, error } = props;
  const words = pageWordsOf(locale);
  const { t, say } = words;
  const title = t("private.title");
  const field = {
    name: "password",
    label: t("private.password"),
    error: error?.key === "private.wrong" ? t(error.key) : undefined,
  };
  const control = controlAttributes(field);
  return renderLinkedDocument({
    title,
    words,
    assets: linkedAssets(),
    children: (
      <PlainPage
        title={title}
        icon="lock"
        foot={say("private.address", { address: <code dir="ltr">{address}</code> })}
      >
        <p class="hint" id={TEXT_ID}>
          {say("private.text", { days: GRANT_DAYS })}
        </p>
        {error?.key === "private.wait" ? (
          <div role="alert">
            <Notice tone="major">{say(error.key, { seconds: error.seconds })}</Notice>
          </div>
        ) : null}
        <Form action={action} hidden={{ next }}>
          <Field name={field.name} label={field.label}>
            <input
              class="input"
              type="password"
              autocomplete="current-password"
              required
              autofocus
              {...control}
              aria-describedby={control["aria-describedby"] ?? TEXT_ID}
            />
            {field.error === undefined ? null : (
              <div role="alert">
                <FieldError {...field} />
              </div>
            )}
          </Field>
          <Actions>
            <Button kind="primary">{say("private.open")}</Button>
          </Actions>
        </Form>
      </PlainPage>
    ),
  });
}
