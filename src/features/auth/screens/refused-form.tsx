/*
 * Forms that were submitted after their session had ended: kept without secrets by the sign-in page, shown again after
 * signing in. Also the screen to return to.
 */
import { containsKeyShape } from "../../../base/ids";
import { SUPPORTED_TYPES } from "../../../base/status";
import { WEBHOOK_FORMATS } from "../../../base/webhook";
import { KEPT_FORM_MAX_BYTES } from "../../../http/body";
import { hostAndPortOf } from "../../../http/caller";
import { readTheme } from "../../../http/cookies";
import type { Form as SentForm } from "../../../http/form-body";
import type { RouteTable } from "../../../http/route-table";
import { linkedAssets } from "../../../ui/assets";
import { Notice } from "../../../ui/blocks";
import { Button, ButtonLink } from "../../../ui/buttons";
import type { HtmlDocument } from "../../../ui/documents";
import { Actions, Form } from "../../../ui/form";
import { KEPT_FIELD } from "../../../ui/forms/form";
import { HOME_PATH } from "../../../ui/frame/paths";
import { renderPlainScreen } from "../../../ui/frame/shell";
import { PRIVATE_KEY } from "../../monitors/probes/client-certificate";
import { inputOf } from "../../monitors/screens/rows";
import { secretTextsOf } from "../../monitors/screens/secrets";
import { isUrlSecret } from "../../webhooks/formats/index";
import { formatNamed, settingsOf } from "../../webhooks/screens/forms";

/** Limit of fields of a kept form, each of which becomes an element of a page. */
const FIELDS_MAX = 2_000;

/** Passwords, values such as those of the headers that a monitor sends, the address of an endpoint, secrets of templates. */
const SECRET_INPUT = /password|^header_\d+_value$|^endpoint_url$|^secret_[A-Z]/;

/** Inputs for the secret settings of webhooks and the secret texts of monitors. */
const SECRET_INPUTS: ReadonlySet<string> = new Set([
  ...WEBHOOK_FORMATS.flatMap(settingsOf).flatMap(({ isSecret, input }) =>
    isSecret ? [input] : [],
  ),
  ...SUPPORTED_TYPES.flatMap(secretTextsOf).map(inputOf),
]);

/** Form that was submitted without a session, as the sign-in page carries it. It has no secrets. */
export interface RefusedForm {
  /** Path and query that the form is posted to. */
  path: string;
  /** Names and texts of its fields, in the encoding of forms. */
  fields: string;
  /** Id of the user whose session had ended; empty if nothing is known of the session. */
  owner: string;
  /** True if typed secrets were left out. */
  isPartial: boolean;
}

/** Keeps the fields of a form without secrets; undefined for one that is too large. */
export function keepForm(form: SentForm, path: string, owner: string): RefusedForm | undefined {
  const sent = form.entries().filter(([name]) => name !== KEPT_FIELD);
  if (sent.length > FIELDS_MAX || !isDashboardPath(path) || containsKeyShape(path))
    return undefined;
  const isSecret = secretTestOf(form);
  const open = sent.filter(([name, value]) => !isSecret(name, value));
  const fields = new URLSearchParams(open).toString();
  if (fields.length > KEPT_FORM_MAX_BYTES) return undefined;
  const isPartial = sent.some(([name, value]) => value !== "" && isSecret(name, value));
  return { path, fields, owner, isPartial: isPartial || form.hasFiles };
}

/** Returns a test for fields that must not be on the sign-in page. */
function secretTestOf(form: SentForm): (name: string, value: string) => boolean {
  // The URL may have been typed for the format that was shown, or for the one that was selected.
  const hasSecretUrl = ["choose_format", "format"].some((input) => {
    const format = formatNamed(form.text(input));
    return format !== undefined && isUrlSecret(format);
  });
  return (name, value) =>
    isSecretInput(name) ||
    (hasSecretUrl && name === "url") ||
    CREDENTIALS_IN_URL.test(value) ||
    value.includes(PRIVATE_KEY) ||
    containsKeyShape(value);
}

// User and password before the host of an address.
const CREDENTIALS_IN_URL = /^\s*[a-z][a-z0-9+.-]*:\/\/[^/?#\s]*@/i;

/** Hidden fields with which the sign-in page carries a kept form. */
export function hiddenFieldsOf(kept: RefusedForm | undefined): Record<string, string> {
  if (!kept) return {};
  const { path, fields, owner, isPartial } = kept;
  return {
    kept_path: path,
    kept_fields: fields,
    kept_owner: owner,
    kept_partly: isPartial ? "yes" : "",
  };
}

/** Error of an attempt to sign in. */
export function SignInError({ error, kept }: { error: string; kept: RefusedForm | undefined }) {
  return (
    <div role="alert">
      <Notice tone="major">
        {error}
        {kept ? " Your form is still kept." : ""}
      </Notice>
    </div>
  );
}

/** Reads the kept form of a sign-in; undefined without one that the dashboard can show again. */
export function readKeptForm(sent: SentForm, routes: RouteTable): RefusedForm | undefined {
  const path = sent.text("kept_path");
  const fields = sent.text("kept_fields");
  if (!isDashboardPath(path) || fields.length > KEPT_FORM_MAX_BYTES) return undefined;
  const { route } = routes.match("POST", path.split("?", 1)[0] ?? "");
  if (!route?.operation.keepsTyped) return undefined;
  if (entriesOfKept({ fields }).length > FIELDS_MAX) return undefined;
  return {
    path,
    fields,
    owner: sent.text("kept_owner"),
    isPartial: sent.text("kept_partly") === "yes",
  };
}

/** Returns names and texts of the fields of a kept form. */
function entriesOfKept({ fields }: Pick<RefusedForm, "fields">): [string, string][] {
  return [...new URLSearchParams(fields).entries()];
}

/** Returns true if a form's input holds a secret, which no page shows again. */
export function isSecretInput(name: string): boolean {
  return SECRET_INPUT.test(name) || SECRET_INPUTS.has(name);
}

/** Renders the page after signing in, which leads back to the form that was open when the session ended. */
export function renderWayBack(request: Request, props: WayBackProps): HtmlDocument {
  return renderPlainScreen({
    title: "You are signed in",
    theme: readTheme(request),
    assets: linkedAssets(),
    children: <WayBack {...props} />,
  });
}

interface WayBackProps {
  kept: RefusedForm;
  user: { id: string; name: string };
}

/** Way back to a kept form. If the form is the user's own, a script presses the button. */
function WayBack({ kept, user }: WayBackProps) {
  const isOwn = kept.owner === user.id;
  return (
    <>
      <p>You are signed in as {user.name}. Nothing was saved yet.</p>
      <p class="muted">
        {isOwn
          ? "Your form is kept with what you typed."
          : "The form that was open in this browser is kept. It may have been filled in by another user."}
      </p>
      <div data-continues={isOwn ? "" : undefined}>
        <Form action={kept.path} hidden={{ [KEPT_FIELD]: kept.isPartial ? "partly" : "yes" }}>
          {entriesOfKept(kept).map(([name, value], index) => (
            <input key={index} type="hidden" name={name} value={value} />
          ))}
          <Actions>
            <Button kind="primary">Continue to the form</Button>
            <ButtonLink href={kept.path}>Discard what was typed</ButtonLink>
          </Actions>
        </Form>
      </div>
    </>
  );
}

// A path of the dashboard without scheme, host, backslash (which browsers treat as a slash), and
// segments `.` or `..`, which could lead out of the dashboard.
const DASHBOARD_PATH = /^\/admin(?:\/(?!\.{1,2}(?:[/?]|$))[\w.~-]+)*(?:\?[\w.~%&=+-]*)?$/;

/** Returns true for a path of the dashboard, with its query. */
function isDashboardPath(path: string): boolean {
  return DASHBOARD_PATH.test(path);
}

/**
 * Returns the path to open after signing in: the requested one if it is a dashboard screen, else the
 * overview.
 */
export function safeReturnPath(path: string | null | undefined): string {
  return path && isDashboardPath(path) && !path.startsWith("/admin/sign-") ? path : HOME_PATH;
}

/**
 * Returns the path to open after signing in again, for a form that was posted to `path`: the screen that held
 * the form if the browser names it, else the screen at `path`, else the overview.
 */
export function returnPathOf(
  request: Request,
  path: string,
  { routes, baseUrl }: { routes: RouteTable; baseUrl: string },
): string {
  const isScreen = (candidate: string) =>
    routes.match("GET", candidate.split("?", 1)[0] ?? "").route?.operation.tag === "Dashboard";
  return safeReturnPath(
    [refererPath(request, baseUrl), path].find((at) => at !== undefined && isScreen(at)),
  );
}

/** Returns path and query of the page that sent a request, if it is of the same host or the public address. */
function refererPath({ headers, url }: Request, baseUrl: string): string | undefined {
  const referer = headers.get("referer");
  const host = hostAndPortOf(referer);
  if (referer === null || host === undefined) return undefined;
  const { pathname, search } = new URL(referer);
  return [url, baseUrl].some((own) => hostAndPortOf(own) === host) ? pathname + search : undefined;
}
