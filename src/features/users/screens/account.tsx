import type { FieldError } from "../../../base/errors";
import { capitalised } from "../../../base/text";
import { NAME_MAX } from "../../../base/texts";
import { toIso } from "../../../base/time";
import { seeOther } from "../../../http/answers";
import { readTheme, type Theme, themeCookie, themeOf, THEMES } from "../../../http/cookies";
import { flowCookie } from "../../../http/flow-cookies";
import { formBody } from "../../../http/form-body";
import { session } from "../../../http/operation";
import { actorOf, type RequestContext, sessionOf } from "../../../http/request-context";
import { Chip, Columns, WithChip } from "../../../ui/blocks";
import { Button, ButtonLink, PostButton, safeHref } from "../../../ui/buttons";
import { DetailCard } from "../../../ui/detail";
import { Actions, Form } from "../../../ui/form";
import {
  checkboxField,
  FormFields,
  FormInputs,
  passwordField,
  textField,
  timeZoneField,
} from "../../../ui/forms/fields";
import { defineForm, type Field, type StateOf } from "../../../ui/forms/form";
import { describeDevice } from "../../../ui/frame/browser";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { ACCOUNT_PATH, GENERAL_PATH } from "../../../ui/frame/paths";
import { atPublicAddress, isAtPublicAddress } from "../../../ui/frame/public-address";
import type { Screen, ScreenRequest } from "../../../ui/frame/render";
import { Cell, Row, Table } from "../../../ui/list";
import { PageHead } from "../../../ui/navigation";
import { createArea } from "../../../ui/screens/area";
import { screenOperation } from "../../../ui/screens/routes";
import { RelativeTime } from "../../../ui/times";
import { passwordError } from "../../auth/passwords";
import type { Provider } from "../../auth/provider";
import { codeError } from "../../auth/screens/code";
import { listSessionsOf, type UserSession } from "../../auth/sessions";
import {
  connectPerson,
  disconnectIdentity,
  listIdentities,
  personOfProxy,
  REJECTIONS,
  type UserIdentity,
} from "../identities";
import { canUsePassword, PROXY_ISSUER } from "../rules";
import { confirmByCode, readSecondFactor, type SecondFactor } from "../second-factors";
import { changePassword, endOneSession, endSessions } from "../sign-in";
import { listIdentitiesOf } from "../store";
import { getUser, readPreferences, renameUser, setKeyWarnings, setTimeZone } from "../users";
import type { UserResource } from "../wire";
import {
  codeFieldError,
  confirmingCodeField,
  createConfirmation,
  currentPasswordField,
} from "./confirming";
import { addSecondFactorRoutes, SecondFactorCard } from "./second-factor";

const COLUMNS = [
  { label: "Device" },
  { label: "IP address" },
  { label: "Last active" },
  { label: "Signed in" },
  { label: "Actions", isHidden: true },
];

const NAME_FORM = defineForm<{ name: string }>()({
  name: textField({
    label: "Name",
    hint: "Other users see this name with your changes.",
    autocomplete: "name",
    maxlength: NAME_MAX,
    isRequired: true,
  }),
});

const zoneField = timeZoneField({
  label: "Time zone",
  hint: "Type a city or a zone, such as Berlin or Europe/Berlin. The dashboard shows times in it, and reads those that you type. Each status page has its own.",
  isRequired: true,
});

const ZONE_FORM = defineForm<{ time_zone: string }>()({
  time_zone: {
    ...zoneField,
    // A script offers the zone of the browser.
    Input: (props) => (
      <div>
        {zoneField.Input(props)}
        <button class="button quiet" type="button" data-browser-zone={props.value} hidden />
      </div>
    ),
  },
});

const PASSWORD_FORM = defineForm<{ current_password: string; new_password: string }>()({
  current_password: currentPasswordField,
  new_password: passwordField({
    label: "New password",
    hint: "At least 12 characters. Saving signs you out on all other devices.",
    autocomplete: "new-password",
  }),
});

const ownPasswordField = passwordField({
  label: "Current password",
  hint: "Password that you use on this server.",
  autocomplete: "current-password",
});

interface ConnectContext {
  /** True for a user with a second factor: who signs in with the identity types no code any more. */
  needsCode: boolean;
}

const ownCodeField: Field<string, string, ConnectContext> = {
  ...confirmingCodeField,
  Input: (props) => (props.context.needsCode ? <confirmingCodeField.Input {...props} /> : null),
};

const CONNECT_FORM = defineForm<{ password: string; code: string }, ConnectContext>()({
  password: ownPasswordField,
  code: ownCodeField,
});

/** Form to connect with the name that the proxy gives. Both forms can be on the screen. */
const CONNECT_NAMED_FORM = defineForm<{ own_password: string; own_code: string }, ConnectContext>()(
  {
    own_password: ownPasswordField,
    own_code: ownCodeField,
  },
);

const MAIL_FORM = defineForm<{ key_warnings: boolean }>()({
  key_warnings: checkboxField({
    label: "Warn me before API keys expire",
    hint: "14 and 3 days ahead, about keys that you created, or as an owner about those whose creator cannot sign in. At most one e-mail a day.",
  }),
});

interface AccountProps {
  user: UserResource;
  name: StateOf<typeof NAME_FORM>;
  zone: StateOf<typeof ZONE_FORM>;
  password: StateOf<typeof PASSWORD_FORM>;
  mail: StateOf<typeof MAIL_FORM>;
  connect: StateOf<typeof CONNECT_FORM>;
  connectNamed: StateOf<typeof CONNECT_NAMED_FORM>;
  /** Name that the proxy gives, with which the user can connect; undefined if there is none. */
  named: string | undefined;
  /** Provider with which users sign in; undefined without one. */
  provider: Pick<Provider, "name" | "issuer"> | undefined;
  identities: readonly UserIdentity[];
  /** True if the user may choose a password. */
  canChoosePassword: boolean;
  /** Address at which the account can be connected, if the dashboard is open at another one. */
  connectsAt: string | undefined;
  theme: Theme;
  factor: SecondFactor | undefined;
  sessions: readonly UserSession[];
  currentSessionId: number;
  now: number;
}

/** Account: the user's own name, password, second factor, identities and sessions. */
function Account(props: AccountProps) {
  const { user, name, zone, password, mail, theme, factor, sessions, currentSessionId, now } =
    props;
  const { identities, canChoosePassword } = props;
  return (
    <>
      <PageHead title="Account">
        Signed in as {user.email}. Your role: {capitalised(user.role)}.
      </PageHead>
      <Columns
        isTall
        aside={
          <>
            <DetailCard title="Time zone" liveId="account-zone" isStill>
              <Form action={`${ACCOUNT_PATH}/time-zone`}>
                <FormFields form={ZONE_FORM} state={zone} />
                <Actions>
                  <Button>Save time zone</Button>
                </Actions>
              </Form>
            </DetailCard>
            <DetailCard title="E-mail" liveId="account-mail" isStill>
              <Form action={`${ACCOUNT_PATH}/mail`}>
                <FormFields form={MAIL_FORM} state={mail} />
                <Actions>
                  <Button>Save</Button>
                </Actions>
              </Form>
            </DetailCard>
            <DetailCard title="Theme" liveId="account-theme" isStill>
              <ThemeForm theme={theme} back="account" />
            </DetailCard>
          </>
        }
      >
        <DetailCard title="Profile" liveId="account-name" isStill>
          <Form action={`${ACCOUNT_PATH}/name`} hidden={name.hidden}>
            <FormFields form={NAME_FORM} state={name} />
            <Actions>
              <Button>Save name</Button>
            </Actions>
          </Form>
        </DetailCard>
        <DetailCard title="Password" liveId="account-password" isStill>
          {canChoosePassword && (user.has_password || identities.length === 0) ? (
            <Form action={`${ACCOUNT_PATH}/password`}>
              <FormFields form={PASSWORD_FORM} state={password} />
              <Actions>
                <Button>Change password</Button>
              </Actions>
            </Form>
          ) : (
            <p>
              {canChoosePassword
                ? "You have none. To choose one, ask an owner for an invitation link (Settings → Users)."
                : "Only owners have a password on this server."}
            </p>
          )}
        </DetailCard>
        <SecondFactorCard
          factor={factor}
          hasPassword={user.has_password && canChoosePassword}
          now={now}
        />
        <IdentitiesCard {...props} />
      </Columns>
      <DetailCard
        title="Sessions"
        liveId="account-sessions"
        isTable
        end={
          sessions.length > 1 ? (
            <PostButton action={`${ACCOUNT_PATH}/sessions/end-others`} kind="danger">
              End all other sessions
            </PostButton>
          ) : null
        }
      >
        <Table columns={COLUMNS} caption="Your sessions" isInCard>
          {sessions.map((session) => (
            <SessionRow
              key={session.id}
              session={session}
              isCurrent={session.id === currentSessionId}
              now={now}
            />
          ))}
        </Table>
      </DetailCard>
    </>
  );
}

/** Identities of other systems with which the user signs in, and the forms to connect one. */
function IdentitiesCard(
  props: Pick<
    AccountProps,
    "user" | "provider" | "identities" | "connect" | "connectsAt" | "named" | "connectNamed" | "now"
  >,
) {
  const { user, provider, identities, connect, connectsAt, named, connectNamed, now } = props;
  if (!provider && identities.length === 0 && named === undefined) return null;
  const isConnected = identities.some(({ issuer }) => issuer === provider?.issuer);
  return (
    <DetailCard
      title={provider ? `Sign-in with ${provider.name}` : "Sign-in without a password"}
      liveId="account-identities"
      isStill
    >
      <div class="form">
        {identities.map(({ id, issuer, system, label, lastUsedAt }) => (
          <div key={id} class="form">
            <p>
              Connected as <bdi>{label}</bdi>
              {issuer === provider?.issuer ? "" : ` at ${system}`}, last used{" "}
              <RelativeTime at={toIso(lastUsedAt)} now={now} />.
            </p>
            {user.has_password ? (
              <Actions>
                <ButtonLink href={`${ACCOUNT_PATH}/disconnect/${id}`} kind="danger" dialog>
                  Disconnect
                </ButtonLink>
              </Actions>
            ) : null}
          </div>
        ))}
        {!provider || isConnected ? null : !user.has_password ? (
          <p>Only users with a password can connect. Ask an owner for an invitation link.</p>
        ) : connectsAt !== undefined ? (
          <p>
            {provider.name} leads back to the public address. Open your account{" "}
            <a href={connectsAt}>there</a> to connect it.
          </p>
        ) : (
          <Form action={CONNECT_PATH}>
            <p class="muted">
              Once you are connected, {provider.name} signs you in as {user.email}.
            </p>
            <FormInputs form={CONNECT_FORM} state={connect} />
            <Actions>
              <Button>Connect</Button>
            </Actions>
          </Form>
        )}
        {named === undefined || !user.has_password ? null : (
          <Form action={CONNECT_NAMED_PATH}>
            <p class="muted">
              The proxy in front of this server names you as <bdi>{named}</bdi>. Once you are
              connected, it signs you in as {user.email}.
            </p>
            <FormFields form={CONNECT_NAMED_FORM} state={connectNamed} />
            <Actions>
              <Button>Connect as {named}</Button>
            </Actions>
          </Form>
        )}
      </div>
    </DetailCard>
  );
}

/** Page after the password, with the way to the provider: a form cannot lead there. */
function ContinueToProvider({ name, url }: { name: string; url: string }) {
  return (
    <>
      <PageHead
        title={`Connect with ${name}`}
        crumbs={[{ href: ACCOUNT_PATH, label: "Account" }]}
      />
      <p>Sign in at {name} within 10 minutes. The account there is then connected with yours.</p>
      <Actions>
        <ButtonLink href={url} kind="primary">
          Continue to {name}
        </ButtonLink>
        <ButtonLink href={ACCOUNT_PATH}>Cancel</ButtonLink>
      </Actions>
    </>
  );
}

function SessionRow(props: { session: UserSession; isCurrent: boolean; now: number }) {
  const { session, isCurrent, now } = props;
  return (
    <Row>
      <Cell>
        <WithChip chip={isCurrent ? <Chip tone="ok">This browser</Chip> : null}>
          {describeDevice(session.userAgent)}
        </WithChip>
      </Cell>
      <Cell label="IP address">{session.ip}</Cell>
      <Cell label="Last active">
        <RelativeTime at={toIso(session.lastSeenAt)} now={now} />
      </Cell>
      <Cell label="Signed in">
        <RelativeTime at={toIso(session.createdAt)} now={now} />
      </Cell>
      <Cell>
        {isCurrent ? null : (
          <PostButton
            action={`${ACCOUNT_PATH}/sessions/end`}
            name="session"
            value={String(session.id)}
          >
            End session
          </PostButton>
        )}
      </Cell>
    </Row>
  );
}

/** States of the forms. A form without a state shows the stored values. */
interface States {
  name?: StateOf<typeof NAME_FORM>;
  zone?: StateOf<typeof ZONE_FORM>;
  password?: StateOf<typeof PASSWORD_FORM>;
  mail?: StateOf<typeof MAIL_FORM>;
  connect?: StateOf<typeof CONNECT_FORM>;
  connectNamed?: StateOf<typeof CONNECT_NAMED_FORM>;
}

/** Screen of the user's own account. */
export function accountAdminRoutes(deps: AdminDependencies) {
  const { ctx, flashes, render, passwords, writeAs, oidc } = deps;
  const confirmation = createConfirmation(deps);
  const { confirmPasswordAndCode } = confirmation;
  const area = createArea(deps, ACCOUNT_PATH, "viewer");

  function connectContext(requestContext: RequestContext): ConnectContext {
    const { user } = sessionOf(requestContext);
    return { needsCode: readSecondFactor(ctx.db, user.id) !== undefined };
  }

  function connectForm(requestContext: RequestContext, notice?: string) {
    const context = connectContext(requestContext);
    return { ...CONNECT_FORM.state(CONNECT_FORM.initial(), context), notice };
  }

  function connectNamedForm(requestContext: RequestContext, notice?: string) {
    const context = connectContext(requestContext);
    return { ...CONNECT_NAMED_FORM.state(CONNECT_NAMED_FORM.initial(), context), notice };
  }

  function account({ request, requestContext }: ScreenRequest, states: States = {}): Screen {
    const { id, user } = sessionOf(requestContext);
    const now = ctx.clock.now();
    const stored = getUser(ctx.db, user.id);
    const {
      name = NAME_FORM.state(NAME_FORM.stored(stored), {}),
      zone = ZONE_FORM.state(ZONE_FORM.stored({ time_zone: user.timeZone }), {}),
      password = PASSWORD_FORM.state(PASSWORD_FORM.initial(), {}),
      mail = MAIL_FORM.state(MAIL_FORM.stored(readPreferences(ctx.db, user.id)), {}),
      connect = connectForm(requestContext),
      connectNamed = connectNamedForm(requestContext),
    } = states;
    const sessions = listSessionsOf(ctx.db, user.id, now);
    const theme = readTheme(request);
    const forms = { name, zone, password, mail, connect, connectNamed };
    const identities = listIdentities(ctx.db, user.id, ctx.config);
    const isNamedConnected = identities.some(({ issuer }) => issuer === PROXY_ISSUER);
    const ways = {
      provider: oidc?.provider,
      identities,
      named: isNamedConnected && !connectNamed.notice ? undefined : requestContext.proxyUser?.name,
      canChoosePassword: canUsePassword(ctx.config, user),
      connectsAt: isAtPublicAddress(ctx.baseUrl, request)
        ? undefined
        : atPublicAddress(ctx.baseUrl, ACCOUNT_PATH),
    };
    const factor = readSecondFactor(ctx.db, user.id);
    const shown = { user: stored, ...forms, ...ways, theme, factor, sessions };
    const page = { ...shown, currentSessionId: id, now };
    return { title: "Account", children: <Account {...page} /> };
  }

  /** Returns the errors of a new password, and of the current one if the new one is allowed. */
  async function passwordErrors(
    requestContext: RequestContext,
    { current_password, new_password }: { current_password: string; new_password: string },
  ): Promise<FieldError[]> {
    const detail = passwordError(new_password, sessionOf(requestContext).user.email);
    if (detail !== undefined) return [{ pointer: "#/new_password", detail }];
    const wrong = await confirmation.currentPasswordError(requestContext, current_password);
    return wrong === undefined ? [] : [{ pointer: "#/current_password", detail: wrong }];
  }

  area.screen("", (at) => account(at));

  area.editForm("/name", {
    form: NAME_FORM,
    back: () => ACCOUNT_PATH,
    load: (reader, { requestContext }) => ({
      resource: getUser(reader, sessionOf(requestContext).user.id),
      version: null,
      context: {},
    }),
    show: (name, at) => account(at, { name }),
    update(tx, { name = "" }, actor, { requestContext }) {
      renameUser(ctx, tx, sessionOf(requestContext).user.id, name, actor);
    },
    done: () => ({ path: ACCOUNT_PATH, text: "Your name was changed." }),
  });

  area.editForm("/time-zone", {
    form: ZONE_FORM,
    back: () => ACCOUNT_PATH,
    load(_, { requestContext }) {
      const { timeZone, isZoneChosen } = sessionOf(requestContext).user;
      // A user without a chosen zone sees UTC. "-" differs from every zone, so that saving UTC is a change.
      return { resource: { time_zone: isZoneChosen ? timeZone : "-" }, version: null, context: {} };
    },
    show: (zone, at) => account(at, { zone }),
    update(tx, { time_zone = "" }, actor, { requestContext }) {
      setTimeZone(ctx, tx, sessionOf(requestContext).user.id, time_zone, actor);
    },
    done: () => ({ path: ACCOUNT_PATH, text: "Your time zone was changed." }),
  });

  addSecondFactorRoutes(area, deps, confirmation);

  area.screen("/password", () => ({ path: ACCOUNT_PATH }));

  // The password is hashed between reading the form and the transaction, which no helper does.
  area.routes.post(
    "/password",
    async ({ request, requestContext, body: sent }) => {
      const at = { request, requestContext };
      const values = PASSWORD_FORM.read(sent);
      const errors = await passwordErrors(requestContext, values);
      if (errors.length > 0) {
        const password = PASSWORD_FORM.rejected(values, errors, {});
        return render.screen(at, { ...account(at, { password }), status: 422 });
      }
      const { id, user } = sessionOf(requestContext);
      const passwordHash = await passwords.hash(values.new_password);
      const change = { userId: user.id, passwordHash, keepSessionId: id };
      await writeAs(requestContext, (tx) =>
        changePassword(ctx, tx, change, actorOf(requestContext)),
      );
      const text = "Your password was changed. All your other sessions have ended.";
      return flashes.redirect(id, ACCOUNT_PATH, text);
    },
    { ...formBody(), ...screenOperation(session("viewer")) },
  );

  area.screen("/connect", () => ({ path: ACCOUNT_PATH }));

  // The password is verified, and the provider asked, before the code is used up. Nothing is connected yet.
  area.routes.post(
    "/connect",
    async ({ request, requestContext, body: sent }) => {
      const at = { request, requestContext };
      if (!oidc) return seeOther(ACCOUNT_PATH);
      // The account says where it can be connected.
      if (!isAtPublicAddress(ctx.baseUrl, request)) {
        return render.screen(at, { ...account(at), status: 409 });
      }
      const { id, user } = sessionOf(requestContext);
      const values = CONNECT_FORM.read(sent);
      const context = connectContext(requestContext);
      const reject = (error: FieldError) => {
        const connect = CONNECT_FORM.rejected(values, [error], context);
        return render.screen(at, { ...account(at, { connect }), status: 422 });
      };
      const typed = await confirmPasswordAndCode(requestContext, { ...values, ...context });
      if ("error" in typed) return reject(typed.error);
      const begun = await oidc.flows.begin({ kind: "connect", sessionId: id });
      const { name } = oidc.provider;
      if ("failure" in begun) {
        const facts = { request: requestContext.requestId, reason: begun.failure };
        ctx.log.warn(facts, "a user could not be connected with the provider");
        const notice = `${name} cannot be used now. Try again later, or tell an owner.`;
        const connect = connectForm(requestContext, notice);
        return render.screen(at, { ...account(at, { connect }), status: 503 });
      }
      const { code } = typed;
      const rejected =
        code &&
        (await writeAs(requestContext, (tx) =>
          confirmByCode(ctx, tx, { userId: user.id, typed: code }, actorOf(requestContext)),
        ));
      if (rejected) return reject(codeFieldError(codeError(rejected, ctx.clock.now()).error));
      return render.screen(at, {
        title: `Connect with ${name}`,
        headers: { "Set-Cookie": flowCookie(ctx, begun.sealed) },
        isSecret: true,
        children: <ContinueToProvider name={name} url={begun.url} />,
      });
    },
    { ...formBody(), ...screenOperation(session("viewer")) },
  );

  area.screen("/connect/named", () => ({ path: ACCOUNT_PATH }));

  area.routes.post(
    "/connect/named",
    async ({ request, requestContext, body: sent }) => {
      const at = { request, requestContext };
      const { proxyUser } = requestContext;
      if (!proxyUser) return seeOther(ACCOUNT_PATH);
      const { id, user } = sessionOf(requestContext);
      const values = CONNECT_NAMED_FORM.read(sent);
      const context = connectContext(requestContext);
      const reject = (error: FieldError) => {
        const connectNamed = CONNECT_NAMED_FORM.rejected(values, [error], context);
        return render.screen(at, { ...account(at, { connectNamed }), status: 422 });
      };
      const typed = await confirmPasswordAndCode(
        requestContext,
        { password: values.own_password, code: values.own_code, ...context },
        { password: "own_password", code: "own_code" },
      );
      if ("error" in typed) return reject(typed.error);
      const { code } = typed;
      const person = personOfProxy(proxyUser, ctx.config);
      const rejected = await writeAs(requestContext, (tx) => {
        const actor = actorOf(requestContext);
        const ofCode = code && confirmByCode(ctx, tx, { userId: user.id, typed: code }, actor);
        return ofCode ? { ofCode } : connectPerson(ctx, tx, user.id, person, actor);
      });
      if (rejected && "ofCode" in rejected) {
        const { error } = codeError(rejected.ofCode, ctx.clock.now());
        return reject(codeFieldError(error, "own_code"));
      }
      if (rejected) {
        const { reason, remedy } = REJECTIONS[rejected.rejection];
        const notice = `You are not connected: ${reason}. ${remedy}`;
        const connectNamed = connectNamedForm(requestContext, notice);
        return render.screen(at, { ...account(at, { connectNamed }), status: 409 });
      }
      return flashes.redirect(id, ACCOUNT_PATH, `You are connected as ${proxyUser.name}.`);
    },
    { ...formBody(), ...screenOperation(session("viewer")) },
  );

  area.confirmation("/disconnect/:identity", {
    show({ requestContext, params }) {
      const identities = listIdentitiesOf(ctx.db, { userId: sessionOf(requestContext).user.id });
      const identity = identities.find(({ id }) => String(id) === params.identity);
      if (!identity) return { path: ACCOUNT_PATH };
      return {
        title: `Disconnect ${identity.label}`,
        button: "Disconnect",
        isDanger: true,
        cancelHref: ACCOUNT_PATH,
        dialog: (
          <p>
            You can no longer sign in with this identity. Sessions that began with it end, possibly
            this one. You can connect again with your password.
          </p>
        ),
      };
    },
    run(tx, { requestContext, params }, actor) {
      const { user } = sessionOf(requestContext);
      disconnectIdentity(ctx, tx, user.id, Number(params.identity), actor);
    },
    done: () => ({ path: ACCOUNT_PATH, text: "You are disconnected." }),
    showConflict: (notice, at) => {
      return account(at, { connect: connectForm(at.requestContext, notice) });
    },
  });

  area.editForm("/mail", {
    form: MAIL_FORM,
    back: () => ACCOUNT_PATH,
    load: (reader, { requestContext }) => ({
      resource: readPreferences(reader, sessionOf(requestContext).user.id),
      version: null,
      context: {},
    }),
    show: (mail, at) => account(at, { mail }),
    update(tx, { key_warnings = true }, actor, { requestContext }) {
      setKeyWarnings(ctx, tx, sessionOf(requestContext).user.id, key_warnings, actor);
    },
    done: () => ({ path: ACCOUNT_PATH, text: "Your e-mail settings were saved." }),
  });

  area.screen("/theme", () => ({ path: ACCOUNT_PATH }));

  // Stored by the browser, so that the sign-in screen has the theme too.
  area.routes.post(
    "/theme",
    async ({ body: sent }) => {
      const back = sent.text("back") === "general" ? GENERAL_PATH : ACCOUNT_PATH;
      const theme = themeOf(sent.text("theme"));
      return seeOther(back, theme ? { "Set-Cookie": themeCookie(ctx, theme) } : {});
    },
    { ...formBody(), ...screenOperation(session("viewer")) },
  );

  area.action("/sessions/end", {
    run(tx, { requestContext, sent }, actor) {
      const { user } = sessionOf(requestContext);
      return endOneSession(ctx, tx, user.id, Number(sent.text("session")), actor);
    },
    done: (hasEnded) => ({
      path: ACCOUNT_PATH,
      text: hasEnded ? "The session has ended." : "That session had already ended.",
    }),
  });

  area.action("/sessions/end-others", {
    run(tx, { requestContext }, actor) {
      const { id, user } = sessionOf(requestContext);
      endSessions(ctx, tx, user.id, actor, id);
    },
    done: () => ({ path: ACCOUNT_PATH, text: "All your other sessions have ended." }),
  });

  return area.routes;
}

const CONNECT_PATH = `${ACCOUNT_PATH}/connect`;
const CONNECT_NAMED_PATH = `${CONNECT_PATH}/named`;

const THEME_PATH = `${ACCOUNT_PATH}/theme`;

/** Screens with the form, by the value of its field `back`. */
type ThemeScreen = "account" | "general";

/** Buttons that select the theme of the dashboard in this browser. */
export function ThemeForm({ theme, back }: { theme: Theme; back: ThemeScreen }) {
  return (
    <form method="post" action={safeHref(THEME_PATH)}>
      <input type="hidden" name="back" value={back} />
      <div class="actions">
        {THEMES.map((name) => (
          <Button key={name} name="theme" value={name} isCurrent={name === theme}>
            {capitalised(name)}
          </Button>
        ))}
      </div>
      <p class="hint">Applies to the dashboard in this browser. System follows the device.</p>
    </form>
  );
}
