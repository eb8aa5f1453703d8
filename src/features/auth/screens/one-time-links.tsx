/*
 * Screens of one-time links: setting up Allclear, accepting an invitation, choosing a new password.
 */
import { userActor } from "../../../base/actor";
import type { FieldError } from "../../../base/errors";
import { NAME_MAX } from "../../../base/texts";
import type { Reader } from "../../../db/statements";
import { seeOther } from "../../../http/answers";
import { findAnySession, sessionCookie, stepCookie } from "../../../http/cookies";
import { declareRoutes } from "../../../http/elysia";
import { formBody } from "../../../http/form-body";
import { Button, ButtonLink } from "../../../ui/buttons";
import { Actions, Form } from "../../../ui/form";
import { FormFields, passwordField, textField } from "../../../ui/forms/fields";
import { defineForm, type Field, type StateOf } from "../../../ui/forms/form";
import { browserOrigin, sessionOriginOf } from "../../../ui/frame/browser";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { HOME_PATH } from "../../../ui/frame/paths";
import type { ScreenRequest } from "../../../ui/frame/render";
import { screenOperation } from "../../../ui/screens/routes";
import { setPublicAddress, validatePublicAddress } from "../../settings/settings";
import { canResetByMail } from "../../users/mails";
import { acceptLink, linkPath, setUpOwner } from "../../users/invitations";
import {
  signInPerson,
  isAddressee,
  personOfProxy,
  type Rejection,
  REJECTIONS,
} from "../../users/identities";
import { canUsePassword } from "../../users/rules";
import { browserZone, getUser, validateNewUser } from "../../users/users";
import type { UserResource } from "../../users/wire";
import { findLink, type OneTimeLink } from "../links";
import { passwordError } from "../passwords";
import { providerName } from "../provider";
import { CODE_PATH } from "./code";
import { deadLinkPage, type LinkKind } from "./dead-link";
import { invitedPath } from "./provider-routes";

const PUBLIC = { kind: "public" } as const;

/** Routes of one-time links: `/admin/setup/{token}` and `/admin/join/{token}`. */
export function oneTimeLinkAdminRoutes(deps: AdminDependencies) {
  const { ctx, render, sessions, passwords } = deps;
  const setUpContext = { hasFixedAddress: ctx.config.baseUrl !== undefined };

  function findLinkOf(reader: Reader, token: string, kind: LinkKind): OneTimeLink | undefined {
    const link = findLink(reader, token, ctx.clock.now());
    return link && (link.purpose === "setup") === (kind === "setup") ? link : undefined;
  }

  /** Returns the user who chooses a password by a link; undefined if the link is dead. */
  function findUserOf(token: string): UserResource | undefined {
    const link = findLinkOf(ctx.db, token, "join");
    return link?.userId ? getUser(ctx.db, link.userId) : undefined;
  }

  function showDeadLink(request: Request, kind: LinkKind) {
    return render.plain(request, deadLinkPage(kind, canResetByMail(ctx)));
  }

  function showSetUp(request: Request, token: string, state: StateOf<typeof SET_UP_FORM>) {
    return render.plain(request, {
      title: "Set up Allclear",
      status: statusOf(state),
      children: <SetUp action={linkPath("setup", token)} state={state} />,
    });
  }

  function showJoin(
    { request, requestContext }: ScreenRequest,
    token: string,
    user: UserResource,
    state: StateOf<typeof JOIN_FORM>,
  ) {
    const isInvitation = !user.has_password;
    const link = findLinkOf(ctx.db, token, "join");
    const proxyUser = link?.purpose === "invite" ? requestContext.proxyUser : undefined;
    const page = {
      action: linkPath("invite", token),
      email: user.email,
      isInvitation,
      state,
      canChoosePassword: link?.isRecovery === true || canUsePassword(ctx.config, user),
      provider: link?.purpose === "invite" ? providerName(ctx.config) : undefined,
      providerPath: invitedPath(token),
      named: proxyUser && {
        name: proxyUser.name,
        isAddressee: isAddressee(personOfProxy(proxyUser, ctx.config), user),
      },
      namedPath: `${linkPath("invite", token)}/named`,
    };
    return render.plain(request, {
      title: isInvitation ? "Welcome to Allclear" : "Choose a new password",
      status: statusOf(state),
      children: <Join {...page} />,
    });
  }

  return declareRoutes()
    .get(
      "/admin/setup/:token",
      async ({ request, params: { token } }) => {
        if (!findLinkOf(ctx.db, token, "setup")) return showDeadLink(request, "setup");
        const proposed = browserOrigin(request)?.origin ?? ctx.baseUrl;
        const values = SET_UP_FORM.initial({ public_address: proposed });
        return showSetUp(request, token, SET_UP_FORM.state(values, setUpContext));
      },
      screenOperation(PUBLIC),
    )
    .post(
      "/admin/setup/:token",
      async ({ request, requestContext, params: { token }, body: sent }) => {
        if (!findLinkOf(ctx.db, token, "setup")) return showDeadLink(request, "setup");
        const { hasFixedAddress } = setUpContext;
        const values = SET_UP_FORM.read(sent);
        const { name, email, password, public_address, time_zone } = SET_UP_FORM.parse(
          values,
          setUpContext,
        ).body;
        const errors = [
          ...validateNewUser({ name, email }),
          ...passwordErrors(password, email),
          ...(hasFixedAddress ? [] : validatePublicAddress(public_address)),
        ];
        if (errors.length > 0) {
          return showSetUp(request, token, SET_UP_FORM.rejected(values, errors, setUpContext));
        }
        const passwordHash = await passwords.hash(password);
        const owner = { name, email, passwordHash, timeZone: browserZone(time_zone) };
        const origin = sessionOriginOf(request, requestContext);
        const before = findAnySession(ctx, sessions, request, ctx.clock.now());
        // Sessions are valid only while the public address has the scheme that they started with.
        const baseUrl = hasFixedAddress ? ctx.baseUrl : new URL(public_address).origin;
        const session = await ctx.db.write((tx) => {
          // Another request may have used the link while the password was hashed.
          if (!findLinkOf(tx, token, "setup")) return undefined;
          const { user, sessionToken } = setUpOwner(
            { ...ctx, baseUrl },
            tx,
            token,
            owner,
            origin,
            before,
          );
          if (!hasFixedAddress) {
            setPublicAddress(ctx, tx, public_address, userActor(user, origin.ip));
          }
          return sessionToken;
        });
        if (session === undefined) return showDeadLink(request, "setup");
        return seeOther(HOME_PATH, { "Set-Cookie": sessionCookie(ctx, session) });
      },
      { ...formBody(), ...screenOperation(PUBLIC) },
    )
    .get(
      "/admin/join/:token",
      async ({ request, requestContext, params: { token } }) => {
        const user = findUserOf(token);
        if (!user) return showDeadLink(request, "join");
        const values = JOIN_FORM.initial({ name: user.name });
        const at = { request, requestContext };
        return showJoin(at, token, user, JOIN_FORM.state(values, {}));
      },
      screenOperation(PUBLIC),
    )
    .post(
      "/admin/join/:token",
      async ({ request, requestContext, params: { token }, body: sent }) => {
        const user = findUserOf(token);
        if (!user) return showDeadLink(request, "join");
        const { email, role } = user;
        const values = JOIN_FORM.read(sent);
        const { name: chosenName, password, time_zone } = JOIN_FORM.parse(values, {}).body;
        const name = user.has_password ? user.name : chosenName;
        const errors = [
          ...validateNewUser({ name, email, role }),
          ...passwordErrors(password, email),
        ];
        if (errors.length > 0) {
          const at = { request, requestContext };
          return showJoin(at, token, user, JOIN_FORM.rejected(values, errors, {}));
        }
        const passwordHash = await passwords.hash(password);
        const chosen = user.has_password
          ? { passwordHash }
          : { passwordHash, name, timeZone: browserZone(time_zone) };
        const origin = sessionOriginOf(request, requestContext);
        const before = findAnySession(ctx, sessions, request, ctx.clock.now());
        const signedIn = await ctx.db.write((tx) => {
          // Another request may have used the link while the password was hashed.
          if (!findLinkOf(tx, token, "join")) return undefined;
          return acceptLink(ctx, tx, token, chosen, origin, before);
        });
        if (signedIn === undefined) return showDeadLink(request, "join");
        return "stepToken" in signedIn
          ? seeOther(CODE_PATH, { "Set-Cookie": stepCookie(ctx, signedIn.stepToken) })
          : seeOther(HOME_PATH, { "Set-Cookie": sessionCookie(ctx, signedIn.sessionToken) });
      },
      { ...formBody(), ...screenOperation(PUBLIC) },
    )
    .post(
      "/admin/join/:token/named",
      async ({ request, requestContext, params: { token } }) => {
        const { proxyUser } = requestContext;
        if (!findUserOf(token)) return showDeadLink(request, "join");
        if (!proxyUser) return seeOther(linkPath("invite", token));
        const person = personOfProxy(proxyUser, ctx.config);
        const origin = sessionOriginOf(request, requestContext);
        const replaced = findAnySession(ctx, sessions, request, ctx.clock.now());
        const signedIn = await ctx.db.write((tx) =>
          signInPerson(ctx, tx, person, { origin, replaced, invitation: token }),
        );
        if ("rejection" in signedIn) {
          const children = <NotJoined named={proxyUser.name} rejection={signedIn.rejection} />;
          return render.plain(request, { title: "You have not joined", status: 403, children });
        }
        return seeOther(HOME_PATH, { "Set-Cookie": sessionCookie(ctx, signedIn.sessionToken) });
      },
      { ...formBody(), ...screenOperation(PUBLIC) },
    );
}

function passwordErrors(password: string, email: string): FieldError[] {
  const detail = passwordError(password, email);
  return detail === undefined ? [] : [{ pointer: "#/password", detail }];
}

function statusOf({ errors }: { errors: object }): number {
  return Object.keys(errors).length > 0 ? 422 : 200;
}

interface SetUpContext {
  /** True if a flag or an environment variable sets the public address, so that the form does not. */
  hasFixedAddress: boolean;
}

const addressField = textField({
  label: "Public address",
  type: "url",
  hint: "The address at which people and programs reach this server, used in links. If a wrong address locks you out, start the server with --base-url.",
  isRequired: true,
});

const publicAddressField: Field<string, string, SetUpContext> = {
  ...addressField,
  Input: (props) => (props.context.hasFixedAddress ? null : <addressField.Input {...props} />),
};

const ownNameField = textField({
  label: "Your name",
  autocomplete: "name",
  maxlength: NAME_MAX,
  isRequired: true,
  autofocus: true,
});

/** Hidden field for the time zone of the browser, which a script fills in. */
const browserZoneField: Field<string, string> = {
  label: "",
  initial: "",
  read: (sent, name) => sent.text(name),
  toBody: (typed) => typed,
  fromStored: (zone) => zone,
  Input: ({ name, value }) => (
    <input type="hidden" name={name} value={value} data-browser-zone="" />
  ),
};

const newPassword = {
  label: "Password",
  hint: "At least 12 characters. A few unrelated words make a good password.",
  autocomplete: "new-password",
} as const;

interface FirstUser {
  name: string;
  email: string;
  password: string;
  public_address: string;
  /** Time zone of the browser; empty without a script. */
  time_zone: string;
}

/** Form for the first user and the public address. */
const SET_UP_FORM = defineForm<FirstUser, SetUpContext>()({
  name: ownNameField,
  email: textField({ label: "E-mail", type: "email", autocomplete: "username", isRequired: true }),
  password: passwordField(newPassword),
  public_address: publicAddressField,
  time_zone: browserZoneField,
});

/** Form to accept an invitation. */
const JOIN_FORM = defineForm<{ name: string; password: string; time_zone: string }>()({
  name: ownNameField,
  password: passwordField(newPassword),
  time_zone: browserZoneField,
});

/** Form to choose a new password. */
const RESET_FORM = defineForm<{ password: string }>()({
  password: passwordField({ ...newPassword, autofocus: true }),
});

/** Set-up form, opened by the link that the server printed. */
function SetUp({ action, state }: { action: string; state: StateOf<typeof SET_UP_FORM> }) {
  return (
    <>
      <p class="muted">You become the owner and can then invite other users.</p>
      <Form action={action}>
        <FormFields form={SET_UP_FORM} state={state} />
        <Actions>
          <Button kind="primary">Set up</Button>
        </Actions>
      </Form>
    </>
  );
}

/** Form for choosing a password, opened by a one-time link. An invitation asks for the name too. */
function Join(props: {
  action: string;
  email: string;
  isInvitation: boolean;
  state: StateOf<typeof JOIN_FORM>;
  /** True if the user may choose a password. */
  canChoosePassword: boolean;
  /** Name of the provider with which an invitation can be accepted. */
  provider: string | undefined;
  providerPath: string;
  /**
   * User whom the proxy in front of this server names, who can accept an invitation; `isAddressee` if the e-mail shows
   * that it is meant for this user.
   */
  named: { name: string; isAddressee: boolean } | undefined;
  namedPath: string;
}) {
  const { action, email, isInvitation, state, canChoosePassword, provider, providerPath } = props;
  const { named, namedPath } = props;
  const asNamed =
    named === undefined ? null : (
      <Form action={namedPath}>
        {named.isAddressee ? null : (
          <p class="muted">
            The proxy in front of this server names you as <bdi>{named.name}</bdi>. If you join, it
            signs you in here as {email} from now on. If you are not {email}, do not join, and ask
            an owner of this server about it.
          </p>
        )}
        <Actions>
          <Button kind="primary">Join as {named.name}</Button>
        </Actions>
      </Form>
    );
  const byProvider =
    provider === undefined ? null : (
      <Actions>
        <ButtonLink href={providerPath} kind="primary">
          Join with {provider}
        </ButtonLink>
      </Actions>
    );
  const withProvider =
    asNamed || byProvider ? (
      <>
        {asNamed}
        {byProvider}
      </>
    ) : null;
  if (!canChoosePassword) {
    return (
      <>
        <p class="muted">
          {isInvitation ? `You were invited as ${email}. ` : ""}Only owners have a password on this
          server.{withProvider ? "" : " Ask an owner how you sign in."}
        </p>
        {withProvider}
      </>
    );
  }
  return (
    <>
      <p class="muted">
        {isInvitation
          ? `You were invited as ${email}.`
          : `Choose a new password for ${email}. Saving signs you out on all devices.`}
      </p>
      {withProvider}
      {withProvider ? <p class="muted">Or choose a password:</p> : null}
      <Form action={action}>
        {isInvitation ? (
          <FormFields form={JOIN_FORM} state={state} />
        ) : (
          <FormFields form={RESET_FORM} state={state} />
        )}
        <Actions>
          <Button kind={withProvider ? "quiet" : "primary"}>
            {isInvitation ? "Join" : "Set password"}
          </Button>
        </Actions>
      </Form>
    </>
  );
}

/** Page of an invitation that the user whom the proxy names cannot accept. */
function NotJoined({ named, rejection }: { named: string; rejection: Rejection }) {
  const { reason, remedy } = REJECTIONS[rejection];
  return (
    <p>
      The proxy in front of this server names you as <bdi>{named}</bdi>, and {reason}. {remedy}
    </p>
  );
}
