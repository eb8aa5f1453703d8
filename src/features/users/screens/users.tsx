/*
 * Settings → Users: the list, the forms for a new user and for the role, one-time links, and the screen of one user.
 */
import { type Role, ROLE_SENTENCES, ROLES } from "../../../base/actor";
import { capitalised, plural } from "../../../base/text";
import { describeDuration, toIso } from "../../../base/time";
import type { Ctx } from "../../../context";
import type { Reader } from "../../../db/statements";
import { sessionOf } from "../../../http/request-context";
import { Card, CodeBlock, Notice, State } from "../../../ui/blocks";
import { Button, ButtonLink, PostButton } from "../../../ui/buttons";
import { RadioList } from "../../../ui/choices";
import { DetailCard, HeadFact, HeadFacts, MoreMenu } from "../../../ui/detail";
import { Actions, Form } from "../../../ui/form";
import { choiceField, FormInputs, nameField, textField } from "../../../ui/forms/fields";
import { defineForm, type StateOf, versionInput } from "../../../ui/forms/form";
import { newFormToken, type Reveal } from "../../../ui/frame/changes";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { HOME_PATH, keyPath, MAIL_PATH, userPath, USERS_PATH } from "../../../ui/frame/paths";
import { crumbsAbove, crumbsTo } from "../../../ui/frame/places";
import type { Screen, ScreenRequest } from "../../../ui/frame/render";
import { Icon } from "../../../ui/icons";
import { CellNote, type DataColumn, OneLine, RowLink } from "../../../ui/list";
import { PageHead } from "../../../ui/navigation";
import { type Area, createArea } from "../../../ui/screens/area";
import { shownBefore } from "../../../ui/screens/form-screen";
import { OrderedTable } from "../../../ui/screens/list";
import { RelativeTime } from "../../../ui/times";
import { describeMissing, mailReadiness, type MailReadiness } from "../../mail/settings";
import { inviteUser, issuePasswordLink, linkPath, type PasswordLink } from "../invitations";
import { areResetMailsOn, findMailTrouble, type MailTrouble, setResetMails } from "../mails";
import { disconnectIdentity, listIdentities, type UserIdentity } from "../identities";
import { canUsePassword, stateOfUser } from "../rules";
import { resetSecondFactor } from "../recovery";
import { listSecondFactorUsers } from "../second-factor-store";
import { listIdentitiesOf } from "../store";
import { readSecondFactor, type SecondFactor } from "../second-factors";
import {
  disableUser,
  enableUser,
  getUser,
  isLastOwner,
  listLiveKeysOf,
  listUsers,
  setRole,
} from "../users";
import type { NewUser, UserResource } from "../wire";

/** Settings → Users: for owners. */
export function userAdminRoutes(deps: AdminDependencies) {
  const { ctx } = deps;
  const area = createArea(deps, USERS_PATH, "owner");

  area.screen("", ({ query }) => ({
    title: "Users",
    children: (
      <UserList
        users={listUsers(ctx.db)}
        withSecondFactor={new Set(listSecondFactorUsers(ctx.db, {}).map(({ userId }) => userId))}
        hasTrouble={(id) => findMailTrouble(ctx.db, id) !== undefined}
        isResetMailOn={areResetMailsOn(ctx.db)}
        readiness={mailReadiness(ctx)}
        order={query["sort"]}
        now={ctx.clock.now()}
      />
    ),
  }));

  area.screen("/reset-mails", () => ({ path: USERS_PATH }));

  area.action("/reset-mails", {
    run(tx, { sent }, actor) {
      const isOn = sent.text("turn") === "on";
      return { isOn, isChanged: setResetMails(ctx, tx, isOn, actor) };
    },
    done: ({ isOn, isChanged }) => ({
      path: USERS_PATH,
      text: isChanged ? `Password resets by e-mail were turned ${isOn ? "on" : "off"}.` : undefined,
    }),
  });

  area.secretForm("/new", {
    form: INVITE_FORM,
    load: () => ({ isMailed: mailReadiness(ctx).ready }),
    show: ({ context }) => ({
      title: "Invite user",
      crumbs: crumbsTo(USERS_PATH),
      button: context.isMailed ? "Send invitation" : "Create invitation link",
    }),
    create(tx, body, actor) {
      const made = inviteUser(ctx, tx, body, actor);
      return { made, subjectId: made.user.id };
    },
    reveal: (reveal) => revealLink(ctx, reveal),
  });

  addUserRoutes(area, deps);
  return area.routes;
}

/** Settings → Users. */
function UserList(props: {
  users: readonly UserResource[];
  /** Ids of users. */
  withSecondFactor: ReadonlySet<string>;
  /** Returns true if the last account mail to a user did not go out. */
  hasTrouble: (id: string) => boolean;
  isResetMailOn: boolean;
  readiness: MailReadiness;
  /** Query parameter `sort`. */
  order: string | undefined;
  now: number;
}) {
  const { users, withSecondFactor, hasTrouble, isResetMailOn, readiness, order, now } = props;
  return (
    <>
      <PageHead
        title="Users"
        crumbs={crumbsAbove(USERS_PATH)}
        isList
        actions={
          <ButtonLink href={`${USERS_PATH}/new`} kind="primary">
            <Icon name="plus" />
            Invite user
          </ButtonLink>
        }
      />
      <OrderedTable
        home={USERS_PATH}
        order={order}
        usual="Oldest first"
        valuesBy={ORDERS}
        caption="Users"
        columns={columnsAt(now, withSecondFactor, hasTrouble)}
        entries={users}
        isOver={({ disabled_at }) => disabled_at !== null}
      />
      <ResetMailsCard isOn={isResetMailOn} readiness={readiness} />
    </>
  );
}

const STATES = ["active", "invited", "disabled"] as const;

/** Values by which users can be ordered. Roles are in the order of what they may do. */
const ORDERS: Readonly<Record<string, (user: UserResource) => string | number | null>> = {
  name: ({ name }) => name,
  role: ({ role }) => ROLES.indexOf(role),
  signed_in: ({ last_login_at }) => last_login_at && Date.parse(last_login_at),
  state: (user) => STATES.indexOf(stateOfUser(user)),
};

function columnsAt(
  now: number,
  withSecondFactor: ReadonlySet<string>,
  hasTrouble: (id: string) => boolean,
): DataColumn<UserResource>[] {
  return [
    {
      label: "User",
      sort: { key: "name" },
      cell: ({ id, name, email }) => (
        <>
          <RowLink href={userPath(id)}>{name}</RowLink>
          <CellNote>{email}</CellNote>
        </>
      ),
    },
    { label: "Role", sort: { key: "role", kind: "rank" }, cell: ({ role }) => capitalised(role) },
    {
      label: "Last signed in",
      sort: { key: "signed_in", kind: "time" },
      cell: ({ last_login_at }) =>
        last_login_at ? (
          <RelativeTime at={last_login_at} now={now} />
        ) : (
          <span class="quiet-text">Never</span>
        ),
    },
    {
      label: "State",
      sort: { key: "state", kind: "phase" },
      cell: (user) => (
        <>
          <OneLine>
            <UserState user={user} />
          </OneLine>
          {withSecondFactor.has(user.id) ? <CellNote>Second factor</CellNote> : null}
          {hasTrouble(user.id) ? <CellNote>Mail not sent</CellNote> : null}
        </>
      ),
    },
  ];
}

/** State of a user: active, invited or disabled. */
function UserState({ user }: { user: UserResource }) {
  const state = stateOfUser(user);
  switch (state) {
    case "active":
      return <State tone="ok">Active</State>;
    case "invited":
      return <State tone="none">Invited</State>;
    case "disabled":
      return (
        <State tone="none" isPaused>
          Disabled
        </State>
      );
  }
}

/** Card with which owners decide if users get links for new passwords by mail. */
function ResetMailsCard({ isOn, readiness }: { isOn: boolean; readiness: MailReadiness }) {
  return (
    <DetailCard
      title="Password resets by e-mail"
      liveId="reset-mails"
      isStill
      end={
        <PostButton action={`${USERS_PATH}/reset-mails`} name="turn" value={isOn ? "off" : "on"}>
          {isOn ? "Turn off" : "Turn on"}
        </PostButton>
      }
    >
      <p>
        <State tone={isOn && readiness.ready ? "ok" : "none"} isPaused={!isOn}>
          {isOn ? (readiness.ready ? "On" : "On, but mail cannot be sent") : "Off"}
        </State>
      </p>
      <p class="detail-note">
        Users who forgot their password can ask for a link on the sign-in screen. It works for an
        hour and ends all of their sessions.
        {readiness.ready ? null : (
          <>
            {" "}
            <a href={MAIL_PATH}>Mail</a> needs {describeMissing(readiness.missing)} first.
          </>
        )}
      </p>
    </DetailCard>
  );
}

const ROLE_OPTIONS = ROLES.map((role) => ({
  value: role,
  label: capitalised(role),
  hint: ROLE_SENTENCES[role],
}));

const roleField = choiceField<Role>({ label: "Role", initial: "editor", options: ROLE_OPTIONS });

/** Screen data of the form for a new user. */
interface InviteContext {
  /** True if the invitation is mailed. */
  isMailed: boolean;
}

const emailField = (hint: string) =>
  textField({ label: "E-mail", type: "email", hint, isRequired: true });

const MAILED = emailField("Used for signing in. The invitation is sent to this address.");

const NOT_MAILED = emailField(
  "Used for signing in. E-mail is not set up, so send the invitation link yourself.",
);

const INVITE_FORM = defineForm<NewUser, InviteContext>()({
  email: {
    ...MAILED,
    Input: ({ context, ...props }) =>
      context.isMailed ? (
        <MAILED.Input {...props} context={context} />
      ) : (
        <NOT_MAILED.Input {...props} context={context} />
      ),
  },
  name: nameField({ hint: "The user can change it when joining." }),
  role: roleField,
});

const LAST_OWNER =
  "The last owner cannot get another role or be disabled. First make another user an owner.";

const ROLE_FORM = defineForm<{ role: Role }, { isLastOwner: boolean }>()({
  role: {
    ...roleField,
    Input: ({ name, value, errors, context }) => (
      <RadioList
        legend="Role"
        isLegendHidden
        name={name}
        options={ROLE_OPTIONS}
        value={value}
        hint={context.isLastOwner ? LAST_OWNER : undefined}
        error={errors[name]}
      />
    ),
  },
});

interface AtUser extends ScreenRequest {
  params: { id: string };
}

/** Adds the screen of a user, and the forms that change the role, create a link, and disable or enable the user. */
function addUserRoutes(area: Area, { ctx }: AdminDependencies): void {
  const isSelf = ({ requestContext, params }: AtUser) =>
    sessionOf(requestContext).user.id === params.id;

  function loadRole(reader: Reader, { params }: AtUser) {
    const context = { isLastOwner: isLastOwner(ctx, reader, params.id) };
    const resource = getUser(reader, params.id);
    return { resource, version: resource.version, context };
  }

  function detail(at: AtUser, changed: Partial<StateOf<typeof ROLE_FORM>> = {}): Screen {
    const { resource: user, version, context } = loadRole(ctx.db, at);
    const stored = ROLE_FORM.state(ROLE_FORM.stored(user), context, versionInput(version));
    const role = { ...stored, ...changed };
    const formToken = newFormToken(ctx);
    const mail = {
      isMailReady: mailReadiness(ctx).ready,
      trouble: findMailTrouble(ctx.db, user.id),
    };
    const identities = listIdentities(ctx.db, user.id, ctx.config);
    const hasGroups = ctx.config.roles !== undefined && identities.length > 0;
    const about = { identities, hasGroups, canHavePassword: canUsePassword(ctx.config, user) };
    const factor = readSecondFactor(ctx.db, user.id);
    const now = ctx.clock.now();
    const page = { user, role, factor, isSelf: isSelf(at), formToken, ...mail, ...about, now };
    return { title: user.name, children: <UserDetail {...page} /> };
  }

  area.screen("/:id", (at) => detail(at));

  area.editForm("/:id/role", {
    form: ROLE_FORM,
    back: ({ params }) => userPath(params.id),
    load: loadRole,
    show: (state, at) => detail(at, state),
    update(tx, { role }, actor, { params }) {
      if (role !== undefined) setRole(ctx, tx, params.id, role, actor);
    },
    done(at, { role }) {
      // Former owners may not open this screen any more.
      const isClosed = isSelf(at) && role !== "owner";
      return { path: isClosed ? HOME_PATH : userPath(at.params.id), text: "The role was changed." };
    },
  });

  area.confirmation("/:id/disconnect/:identity", {
    show({ params }) {
      const identities = listIdentitiesOf(ctx.db, { userId: params.id });
      const identity = identities.find(({ id }) => String(id) === params.identity);
      if (!identity) return { path: userPath(params.id) };
      return {
        title: `Disconnect ${identity.label}`,
        button: "Disconnect",
        isDanger: true,
        cancelHref: userPath(params.id),
        dialog: (
          <p>
            The user can no longer sign in with this identity, and all sessions that began with it
            end. The user can connect it again with a password, or with an invitation.
          </p>
        ),
      };
    },
    run: (tx, { params }, actor) =>
      disconnectIdentity(ctx, tx, params.id, Number(params.identity), actor),
    done: (_, { params }) => ({ path: userPath(params.id), text: "The user was disconnected." }),
    showConflict: (notice, at) => detail(at, { notice }),
  });

  area.secretAction("/:id/link", {
    back: ({ params }) => userPath(params.id),
    create(tx, actor, { params }) {
      const made = issuePasswordLink(ctx, tx, params.id, actor);
      return { made, subjectId: made.user.id };
    },
    reveal: (reveal) => revealLink(ctx, reveal),
  });

  area.confirmation("/:id/disable", {
    show({ params }) {
      const user = getUser(ctx.db, params.id);
      if (isLastOwner(ctx, ctx.db, user.id)) return { path: userPath(user.id) };
      const keys = listLiveKeysOf(ctx.db, user.id, ctx.clock.now());
      return {
        title: `Disable “${user.name}”`,
        button: "Disable user",
        isDanger: true,
        dialog: <DisableUser keys={keys} />,
      };
    },
    run: (tx, { params }, actor) => disableUser(ctx, tx, params.id, actor),
    done: ({ id }) => ({
      path: userPath(id),
      text: "The user was disabled. All sessions of the user have ended.",
    }),
    showConflict: (notice, at) => detail(at, { notice }),
  });

  area.confirmation("/:id/reset-second-factor", {
    show({ params }) {
      const user = getUser(ctx.db, params.id);
      if (!readSecondFactor(ctx.db, user.id)) return { path: userPath(user.id) };
      return {
        title: `Reset the second factor of “${user.name}”`,
        button: "Reset second factor",
        isDanger: true,
        dialog: (
          <p>
            The app and the recovery codes of the user work no longer, and all sessions of the user
            end. The password alone signs the user in then.
          </p>
        ),
      };
    },
    run: (tx, { params }, actor) => resetSecondFactor(ctx, tx, params.id, actor),
    done: (hadOne, { params }) => ({
      path: userPath(params.id),
      text: hadOne
        ? "The second factor was reset. All sessions of the user have ended."
        : undefined,
    }),
    showConflict: (notice, at) => detail(at, { notice }),
  });

  area.action("/:id/enable", {
    run: (tx, { params }, actor) => enableUser(ctx, tx, params.id, actor),
    done: ({ id, has_password }) => ({
      path: userPath(id),
      text: has_password
        ? "The user was enabled and can sign in again."
        : "The user was enabled. To sign in, the user needs an invitation link.",
    }),
  });
}

/** One user, with forms that change the role, create a one-time link and disable the user. */
function UserDetail(props: {
  user: UserResource;
  isSelf: boolean;
  role: StateOf<typeof ROLE_FORM>;
  factor: SecondFactor | undefined;
  formToken: string;
  /** True if an invitation is mailed. */
  isMailReady: boolean;
  /** Trouble with the last account mail. */
  trouble: MailTrouble | undefined;
  identities: readonly UserIdentity[];
  /** True if the role follows the groups of another system. */
  hasGroups: boolean;
  /** True if the user may have a password. */
  canHavePassword: boolean;
  now: number;
}) {
  const { user, isSelf, role, factor, formToken, isMailReady, trouble, now } = props;
  const { identities, hasGroups } = props;
  // A link could then only lead to the identity that the user has.
  const hasJoined = user.has_password || identities.length > 0;
  return (
    <>
      <PageHead
        title={user.name}
        crumbs={crumbsTo(USERS_PATH)}
        actions={
          user.disabled_at ? (
            <PostButton action={userPath(user.id, "enable")}>Enable user</PostButton>
          ) : role.context.isLastOwner ? undefined : (
            <MoreMenu label="More actions">
              <ButtonLink href={userPath(user.id, "disable")} kind="danger" dialog>
                Disable
              </ButtonLink>
            </MoreMenu>
          )
        }
      >
        <HeadFacts>
          <UserState user={user} />
          <span>{user.email}</span>
          {user.last_login_at ? (
            <HeadFact icon="clock">
              Last signed in <RelativeTime at={user.last_login_at} now={now} />
            </HeadFact>
          ) : null}
          {isSelf ? <span>This is you</span> : null}
        </HeadFacts>
      </PageHead>
      {trouble ? <MailTroubleNotice trouble={trouble} now={now} /> : null}
      <DetailCard title="Role" liveId="user-role" isStill>
        <Form action={userPath(user.id, "role")} hidden={role.hidden}>
          <FormInputs form={ROLE_FORM} state={role} />
          {hasGroups ? (
            <p class="hint">
              Groups set the role again at the next sign-in with the provider or by the identity
              proxy.
            </p>
          ) : null}
          <Actions>
            <Button>Save role</Button>
          </Actions>
        </Form>
      </DetailCard>
      {identities.length > 0 ? (
        <DetailCard title="Identities" liveId="user-identities" isStill>
          <div class="form">
            {identities.map(({ id, label, system, lastUsedAt }) => (
              <div key={id} class="form">
                <p>
                  <bdi>{label}</bdi> at {system}, last used{" "}
                  <RelativeTime at={toIso(lastUsedAt)} now={now} />.
                </p>
                <Actions>
                  <ButtonLink
                    href={userPath(user.id, "disconnect", String(id))}
                    kind="danger"
                    dialog
                  >
                    Disconnect
                  </ButtonLink>
                </Actions>
              </div>
            ))}
          </div>
        </DetailCard>
      ) : null}
      {user.disabled_at || (hasJoined && !props.canHavePassword) ? null : (
        <LinkForm user={user} formToken={formToken} isMailReady={isMailReady} />
      )}
      {factor && !isSelf && !user.disabled_at ? (
        <SecondFactorState id={user.id} factor={factor} now={now} />
      ) : null}
    </>
  );
}

function LinkForm(props: { user: UserResource; formToken: string; isMailReady: boolean }) {
  const { user, formToken, isMailReady } = props;
  const isMailed = isMailReady && !user.has_password;
  return (
    <DetailCard
      title={user.has_password ? "Forgotten password" : "Invitation"}
      liveId="user-link"
      isStill
    >
      <Form action={userPath(user.id, "link")} hidden={{ form: formToken }}>
        <p class="muted">
          {user.has_password
            ? "A reset link lets the user choose a new password. The current password works until then."
            : `A new invitation link replaces the earlier ones.${isMailed ? ` It is shown, and another is sent to ${user.email}.` : ""}`}
        </p>
        <Actions>
          <Button>
            {user.has_password
              ? "Create reset link"
              : isMailed
                ? "Send invitation again"
                : "Create invitation link"}
          </Button>
        </Actions>
      </Form>
    </DetailCard>
  );
}

/** State of a user's second factor, with the way to reset it. */
function SecondFactorState(props: { id: string; factor: SecondFactor; now: number }) {
  const { id, factor, now } = props;
  return (
    <DetailCard title="Second factor" liveId="user-second-factor" isStill>
      <p>
        <State tone="ok">On</State>
      </p>
      <p class="detail-note">
        Turned on <RelativeTime at={toIso(factor.since)} now={now} />.{" "}
        {plural(factor.recoveryCodes, "recovery code")} left. Reset it if the user has lost the app
        and the recovery codes.
      </p>
      <Actions>
        <ButtonLink href={userPath(id, "reset-second-factor")} kind="danger" dialog>
          Reset second factor
        </ButtonLink>
      </Actions>
    </DetailCard>
  );
}

/** Consequences of disabling a user, with the API keys that keep working. */
function DisableUser({ keys }: { keys: readonly { id: string; name: string }[] }) {
  return (
    <>
      <p>
        The user is signed out on all devices and can no longer sign in. You can enable the user
        again.
      </p>
      {keys.length > 0 ? (
        <>
          <p>These API keys of the user keep working until they are revoked:</p>
          <ul class="plain-list">
            {keys.map((key) => (
              <li key={key.id}>
                <a href={keyPath(key.id)}>{key.name}</a>
              </li>
            ))}
          </ul>
        </>
      ) : null}
    </>
  );
}

/** Returns the screen that shows the one-time link of a user once. */
function revealLink(ctx: Ctx, reveal: Reveal<PasswordLink>): Screen {
  if ("shownBefore" in reveal) {
    return shownBefore({
      secret: "link",
      ifLost: "create a new one",
      object: { href: userPath(reveal.shownBefore), label: "Open user" },
      list: USERS_PATH,
    });
  }
  const { user, purpose, token, expiresAt, isMailed } = reveal.revealed;
  const title = purpose === "reset" ? "Password reset link" : "Invitation link";
  const url = ctx.baseUrl + linkPath(purpose, token);
  const lasts = describeDuration(expiresAt - ctx.clock.now());
  return {
    title,
    isSecret: true,
    children: <RevealedLink {...{ title, user, url, lasts, isMailed }} />,
  };
}

/** A one-time link, with the way to the user. */
function RevealedLink(props: {
  title: string;
  user: UserResource;
  url: string;
  /** Lifetime of the link, such as "7 days". */
  lasts: string;
  /** True if a mail with a link of its own goes to the user. */
  isMailed: boolean;
}) {
  const { title, user, url, lasts, isMailed } = props;
  return (
    <>
      <PageHead
        title={title}
        crumbs={[...crumbsTo(USERS_PATH), { href: userPath(user.id), label: user.name }]}
      />
      <Notice tone="degraded" title="This link is shown only once">
        {isMailed
          ? `A mail to ${user.email} has a link of its own. You can also send this one over a private channel; using one ends the other.`
          : `Send it to ${user.email} over a private channel.`}{" "}
        It works once and expires after {lasts}. A new link replaces this one.
      </Notice>
      <Card title={user.name}>
        <CodeBlock text={url} copyLabel="Copy link" isSecret />
      </Card>
      <Actions>
        <ButtonLink href={USERS_PATH} kind="primary">
          Back to Users
        </ButtonLink>
      </Actions>
    </>
  );
}

const MAIL_NAMES: Readonly<Record<string, string>> = {
  invitation: "invitation",
  password_reset: "mail with a reset link",
  password_changed: "mail about the changed password",
  recovered: "mail about the recovered account",
  connected: "mail about a connected identity",
  second_factor: "mail about the second factor",
};

/** Explains why the last mail to a user did not go out. */
function MailTroubleNotice({ trouble, now }: { trouble: MailTrouble; now: number }) {
  const { template, isWaiting, reply, at } = trouble;
  const name = MAIL_NAMES[template] ?? "last mail";
  return (
    <Notice
      tone={isWaiting ? "degraded" : "major"}
      title={`The ${name} ${isWaiting ? "waits, and is tried again" : "could not be sent"}`}
    >
      <p>
        {isWaiting ? "Queued" : "Failed"} <RelativeTime at={toIso(at)} now={now} />.
        {reply === null ? "" : ` The relay's reply: ${reply}`}
      </p>
    </Notice>
  );
}
