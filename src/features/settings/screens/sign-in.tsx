/*
 * Settings → Sign-in: the options about signing in that are in force, and a trial of the provider, which starts no session.
 */
import { ROLE_SENTENCES } from "../../../base/actor";
import { formatNetwork } from "../../../base/config/parse";
import { EVERYONE } from "../../../base/config/sign-in";
import { capitalised } from "../../../base/text";
import type { Ctx } from "../../../context";
import { seeOther } from "../../../http/answers";
import { flowCookie } from "../../../http/flow-cookies";
import { session } from "../../../http/operation";
import { sessionOf } from "../../../http/request-context";
import { Columns, CodeBlock, Facts, Notice, State } from "../../../ui/blocks";
import { ButtonLink } from "../../../ui/buttons";
import { DetailCard } from "../../../ui/detail";
import { Actions } from "../../../ui/form";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { SIGN_IN_SETTINGS_PATH, USERS_PATH } from "../../../ui/frame/paths";
import { crumbsAbove, crumbsTo } from "../../../ui/frame/places";
import { atPublicAddress, isAtPublicAddress } from "../../../ui/frame/public-address";
import { DenseDataTable } from "../../../ui/list";
import { PageHead } from "../../../ui/navigation";
import { createArea } from "../../../ui/screens/area";
import { screenOperation } from "../../../ui/screens/routes";
import { CLAIM_MAX, type Claims, type Provider, redirectUriAt } from "../../auth/provider";
import {
  findSignInOutcome,
  type ProxyUser,
  type Person,
  personOfProvider,
  REJECTIONS,
  type SignInOutcome,
} from "../../users/identities";
import { describeUser } from "../../users/users";

const TRY_PATH = `${SIGN_IN_SETTINGS_PATH}/try`;

/** Settings → Sign-in: for owners. */
export function signInSettingsAdminRoutes(deps: AdminDependencies) {
  const { ctx, oidc, render } = deps;
  const area = createArea(deps, SIGN_IN_SETTINGS_PATH, "owner");

  area.screen("", ({ request, requestContext }) => ({
    title: "Sign-in",
    children: (
      <SignInSettings
        ctx={ctx}
        named={requestContext.proxyUser}
        peer={requestContext.peer}
        provider={oidc?.provider}
        isElsewhere={!isAtPublicAddress(ctx.baseUrl, request)}
      />
    ),
  }));

  // Sets the cookie of the flow, which no helper does.
  area.routes.get(
    "/try",
    async ({ request, requestContext }) => {
      if (!oidc) return seeOther(SIGN_IN_SETTINGS_PATH);
      if (!isAtPublicAddress(ctx.baseUrl, request)) {
        return seeOther(atPublicAddress(ctx.baseUrl, TRY_PATH));
      }
      const { id: sessionId } = sessionOf(requestContext);
      const begun = await oidc.flows.begin({ kind: "try", sessionId });
      if (!("failure" in begun)) {
        return seeOther(begun.url, { "Set-Cookie": flowCookie(ctx, begun.sealed) });
      }
      const children = <Tried provider={oidc.provider} failure={begun.failure} />;
      return render.screen({ request, requestContext }, { title: TRIAL, isStill: true, children });
    },
    screenOperation(session("owner")),
  );

  area.screen("/tried", ({ requestContext }) => {
    const result = oidc?.flows.trials.get(sessionOf(requestContext).id);
    if (!oidc || !result) return { path: SIGN_IN_SETTINGS_PATH };
    const { provider } = oidc;
    if ("failure" in result) {
      const children = <Tried provider={provider} failure={result.failure} />;
      return { title: TRIAL, isStill: true, children };
    }
    const person = personOfProvider(provider, result, ctx.config);
    const outcome = findSignInOutcome(ctx, ctx.db, person);
    const seen = { claims: result, person, outcome, hasRoles: ctx.config.roles !== undefined };
    return { title: TRIAL, isStill: true, children: <Tried provider={provider} seen={seen} /> };
  });

  return area.routes;
}

const TRIAL = "Trial of the provider";

/** Options about signing in that are in force. */
function SignInSettings(props: {
  ctx: Ctx;
  provider: Provider | undefined;
  /** True if the dashboard is open at another address than the public one. */
  isElsewhere: boolean;
  /** User whom a proxy names in this request. */
  named: ProxyUser | undefined;
  /** Address that sent this request; undefined if another node passed it on. */
  peer: string | undefined;
}) {
  const { ctx, provider, isElsewhere, named, peer } = props;
  const { config, baseUrl } = ctx;
  const hasProxy = config.identityProxy.length > 0;
  const redirectUri = redirectUriAt(baseUrl);
  return (
    <>
      <PageHead title="Sign-in" crumbs={crumbsAbove(SIGN_IN_SETTINGS_PATH)}>
        Set by options of the server, which apply after a restart.
      </PageHead>
      {provider?.issuer.startsWith("http:") ? (
        <Notice tone="degraded" title="The provider is reached without HTTPS">
          People who can read or change this traffic can sign in as anyone. Use it only within a
          private network.
        </Notice>
      ) : null}
      {provider && isElsewhere ? (
        <Notice tone="maint" title="The dashboard is open at another address">
          The provider leads back to <a href={baseUrl + SIGN_IN_SETTINGS_PATH}>{baseUrl}</a>, the
          public address. A trial begins there too, and may ask you to sign in.
        </Notice>
      ) : null}
      <Columns
        aside={
          <>
            <DetailCard title="Passwords" liveId="sign-in-passwords" isStill isFlush>
              <Facts
                items={[
                  {
                    label: "Sign-in with a password",
                    value: config.localSignIn === "all" ? "All users" : "Owners only",
                  },
                ]}
              />
              <p class="detail-foot hint">
                Set by <code>ALLCLEAR_LOCAL_SIGN_IN</code>.
              </p>
            </DetailCard>
            <DetailCard title="Second factors" liveId="sign-in-second-factors" isStill isFlush>
              <Facts items={[{ label: "Required for", value: usersOf(config.secondFactor) }]} />
              <p class="detail-foot hint">
                Set by <code>ALLCLEAR_SECOND_FACTOR</code>. <a href={USERS_PATH}>Users</a> shows who
                has one.
              </p>
            </DetailCard>
          </>
        }
      >
        <DetailCard title="Provider" liveId="sign-in-provider" isStill isFlush>
          {provider ? <ProviderFacts config={config} provider={provider} /> : null}
          <div class="form-body">
            {provider ? null : (
              <p>
                None. To let users sign in with an OpenID Connect provider, register Allclear there
                with the redirect URI below, and start the server with{" "}
                <code>ALLCLEAR_OIDC_ISSUER</code>, <code>ALLCLEAR_OIDC_CLIENT_ID</code> and{" "}
                <code>ALLCLEAR_OIDC_CLIENT_SECRET</code>.
              </p>
            )}
            <div>
              <p class="hint">Redirect URI for the provider:</p>
              <CodeBlock text={redirectUri} copyLabel="Copy redirect URI" />
            </div>
            {provider ? (
              <Actions>
                <ButtonLink href={TRY_PATH} kind="primary">
                  Try {provider.name}
                </ButtonLink>
              </Actions>
            ) : null}
          </div>
        </DetailCard>
        <DetailCard title="Identity proxy" liveId="sign-in-proxy" isStill isFlush={hasProxy}>
          {hasProxy ? (
            <ProxyFacts config={config} named={named} peer={peer} />
          ) : (
            <p>
              None. A proxy in front of the dashboard, such as Authelia, can name the users in
              headers. Start the server with <code>ALLCLEAR_IDENTITY_PROXY</code> and{" "}
              <code>ALLCLEAR_IDENTITY_PROXY_SECRET_FILE</code>.
            </p>
          )}
        </DetailCard>
        {provider || hasProxy ? <RolesCard config={config} /> : null}
      </Columns>
    </>
  );
}

type Config = Ctx["config"];

/** Describes the users from a role up. */
function usersOf(role: Config["secondFactor"]): string {
  if (role === "none") return "No role: each user decides";
  if (role === "owner") return "Owners";
  return role === "viewer" ? "All users" : `Role ${role} and above`;
}

function ProviderFacts({ config, provider }: { config: Config; provider: Provider }) {
  const isLinked = config.oidcLinkByEmail === "on";
  return (
    <Facts
      items={[
        { label: "Name", value: provider.name },
        { label: "Issuer", value: <code>{provider.issuer}</code> },
        { label: "Client id", value: <code>{config.oidcClientId}</code> },
        {
          label: "Client secret",
          value: config.oidcClientSecret === undefined ? "None: a public client" : "Set",
        },
        {
          label: "New users",
          value:
            config.createUsers === "on"
              ? "Created at their first sign-in"
              : "Only those who were invited or are connected",
        },
        {
          label: "E-mail of new users",
          value:
            config.oidcEmailVerified === "required"
              ? "Must be verified by the provider"
              : "Counts as verified unless the provider says otherwise",
        },
        {
          label: "Connecting by e-mail",
          value: isLinked ? "On, with a verified e-mail" : "Off: in Account, or by an invitation",
        },
      ]}
    />
  );
}

function ProxyFacts(props: {
  config: Config;
  named: ProxyUser | undefined;
  peer: string | undefined;
}) {
  const { config, named, peer } = props;
  const { identityProxySecret: secret, identityProxyNoSecret: noSecret } = config;
  const isExempt = noSecret === "on";
  return (
    <Facts
      items={[
        {
          label: "Networks",
          value: <code>{config.identityProxy.map(formatNetwork).join(", ")}</code>,
        },
        {
          label: "Secret",
          value:
            secret === undefined
              ? "None: every program on this machine can name any user"
              : isExempt
                ? "Required, except from this machine"
                : "Required",
        },
        { label: "User", value: <code>{config.identityProxyHeader}</code> },
        {
          label: "E-mail",
          value:
            config.identityProxyEmailHeader === undefined ? (
              "No header"
            ) : (
              <code>{config.identityProxyEmailHeader}</code>
            ),
        },
        {
          label: "Groups",
          value:
            config.identityProxyGroupsHeader === undefined ? (
              "No header"
            ) : (
              <code>{config.identityProxyGroupsHeader}</code>
            ),
        },
        {
          label: "New users",
          value:
            config.createUsers === "on" && config.identityProxyEmailHeader !== undefined
              ? "Created at their first visit"
              : "Only those who were invited or are connected",
        },
        {
          label: "This request",
          value: named ? (
            <>
              Names <bdi>{named.name}</bdi>
              {named.email === undefined ? "" : ` (${named.email})`}.{" "}
              {named.groups.length === 0 ? "No groups." : `Groups: ${named.groups.join(", ")}.`}
            </>
          ) : (
            <>
              Names no user. It came from {peer === undefined ? "a replica" : <code>{peer}</code>}.
            </>
          ),
          isWide: true,
        },
      ]}
    />
  );
}

function RolesCard({ config }: { config: Config }) {
  const { roles, oidcIssuer, oidcGroupsClaim, identityProxy } = config;
  const header = identityProxy.length > 0 ? config.identityProxyGroupsHeader : undefined;
  const hasGroups = oidcIssuer !== undefined || header !== undefined;
  return roles ? (
    <DetailCard title="Roles by groups" liveId="sign-in-roles" isStill isTable>
      <DenseDataTable
        caption="Roles by groups"
        entries={roles}
        columns={[
          {
            label: "Group",
            cell: ({ group }) => (group === EVERYONE ? "Everyone" : <code>{group}</code>),
          },
          { label: "Role", cell: ({ role }) => capitalised(role) },
          { label: "Rights", isSecondary: true, cell: ({ role }) => ROLE_SENTENCES[role] },
        ]}
      />
      <p class="detail-body hint">
        {hasGroups ? "The groups are those of " : "No groups are read, so only * matches"}
        {oidcIssuer === undefined ? null : (
          <>
            the claim <code>{oidcGroupsClaim}</code>
          </>
        )}
        {oidcIssuer !== undefined && header !== undefined ? " and of " : ""}
        {header === undefined ? null : (
          <>
            the header <code>{header}</code>
          </>
        )}
        . The highest match applies, again at each sign-in, and no match is refused. The last owner
        keeps the role.
      </p>
    </DetailCard>
  ) : (
    <DetailCard title="Roles by groups" liveId="sign-in-roles" isStill>
      <p>
        Groups give no roles. New users become viewers, and owners change roles in Users. To use
        groups, set <code>ALLCLEAR_ROLES</code>, such as{" "}
        <code>sre=admin; support=editor; *=viewer</code>.
      </p>
    </DetailCard>
  );
}

/** Result of a trial. */
interface Seen {
  claims: Claims;
  person: Person;
  outcome: SignInOutcome;
  /** True if groups give roles. */
  hasRoles: boolean;
}

/** Result of a trial: what the provider says, and what a sign-in would do. No session was started. */
function Tried(props: { provider: Provider; failure?: string; seen?: Seen }) {
  const { provider, failure, seen } = props;
  return (
    <>
      <PageHead title={TRIAL} crumbs={crumbsTo(SIGN_IN_SETTINGS_PATH)}>
        A sign-in with {provider.name}, in which no session was started and nothing was changed.
      </PageHead>
      {failure === undefined ? null : (
        <Notice tone="major" title="The sign-in was not completed">
          {failure}
        </Notice>
      )}
      {seen ? <Outcome seen={seen} /> : null}
      {seen ? <ClaimsCard claims={seen.claims} /> : null}
      <Actions>
        <ButtonLink href={TRY_PATH}>Try again</ButtonLink>
        <ButtonLink href={SIGN_IN_SETTINGS_PATH}>Back to Sign-in</ButtonLink>
      </Actions>
    </>
  );
}

function Outcome({ seen: { person, outcome, hasRoles } }: { seen: Seen }) {
  const { rule } = outcome;
  const matched = rule ? (
    <code>
      {rule.group}={rule.role}
    </code>
  ) : hasRoles ? (
    "None"
  ) : (
    "ALLCLEAR_ROLES is not set"
  );
  return (
    <DetailCard title="Result of a sign-in" liveId="sign-in-outcome" isStill isFlush>
      <p class="setting-value detail-body">{describeOutcome(outcome)}</p>
      <Facts
        items={[
          { label: "Matched entry", value: matched },
          { label: "Role", value: "rejection" in outcome ? "None" : capitalised(roleOf(outcome)) },
          {
            label: "Groups",
            value: describeGroups(person.groups),
            isWide: true,
          },
        ]}
      />
    </DetailCard>
  );
}

/** Limit of groups that are shown. */
const GROUPS_MAX = 50;

function describeGroups(groups: readonly string[]): string {
  if (groups.length === 0) return "None";
  const more = groups.length - GROUPS_MAX;
  const shown = groups.slice(0, GROUPS_MAX).map((group) => group.slice(0, CLAIM_MAX));
  return `${shown.join(", ")}${more > 0 ? `, and ${more} more` : ""}`;
}

function roleOf(outcome: Exclude<SignInOutcome, { rejection: unknown }>) {
  return outcome.kind === "create" ? outcome.role : (outcome.rule?.role ?? outcome.user.role);
}

function describeOutcome(outcome: SignInOutcome) {
  if ("rejection" in outcome) {
    const { reason, remedy } = REJECTIONS[outcome.rejection];
    return (
      <>
        <State tone="major">Refused: {reason}.</State> {remedy}
      </>
    );
  }
  const text =
    outcome.kind === "create"
      ? `Creates the user “${outcome.name}” (${outcome.email}) as ${outcome.role}`
      : outcome.kind === "link"
        ? `Connects and signs in ${describeUser(outcome.user)}`
        : `Signs in ${describeUser(outcome.user)}`;
  return <State tone="ok">{text}.</State>;
}

function ClaimsCard({ claims: { token, userInfo = {} } }: { claims: Claims }) {
  const entries = [
    ...Object.entries(token).map(([name, value]) => ({ name, value, source: "ID token" })),
    ...Object.entries(userInfo).map(([name, value]) => ({ name, value, source: "UserInfo" })),
  ];
  return (
    <DetailCard title="Claims" liveId="sign-in-claims" isStill isTable>
      <DenseDataTable
        caption="Claims"
        entries={entries}
        columns={[
          { label: "Claim", cell: ({ name }) => <code>{name}</code> },
          {
            label: "Value",
            cell: ({ value }) => (
              <span class="setting-value">{JSON.stringify(value).slice(0, CLAIM_MAX)}</span>
            ),
          },
          { label: "From", isSecondary: true, cell: ({ source }) => source },
        ]}
      />
    </DetailCard>
  );
}
