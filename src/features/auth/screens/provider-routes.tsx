/*
 * Signing in with the provider: the link that begins it, and the callback at its end. A link and no form, since browsers
 * block a form that leads to another site (`form-action 'self'`).
 */
import { userActor } from "../../../base/actor";
import { seeOther } from "../../../http/answers";
import { SIGN_IN_PATH } from "../../../http/caller";
import { findFullSession, findAnySession, sessionCookie } from "../../../http/cookies";
import { endedFlowCookie, flowCookie, readFlowCookies } from "../../../http/flow-cookies";
import { declareRoutes } from "../../../http/elysia";
import { formBody } from "../../../http/form-body";
import { type RequestContext, splitUrl } from "../../../http/request-context";
import { Button, ButtonLink } from "../../../ui/buttons";
import { Actions, Form } from "../../../ui/form";
import { sessionOriginOf } from "../../../ui/frame/browser";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import {
  ACCOUNT_PATH,
  HOME_PATH,
  PROVIDER_PATH,
  TRIED_PATH,
  withQuery,
} from "../../../ui/frame/paths";
import { atPublicAddress, isAtPublicAddress } from "../../../ui/frame/public-address";
import { screenOperation } from "../../../ui/screens/routes";
import {
  signInPerson,
  connectPerson,
  findSignInOutcome,
  isAddressee,
  labelOf,
  type Person,
  personOfProvider,
  type Rejection,
  REJECTIONS,
} from "../../users/identities";
import { linkPath } from "../../users/invitations";
import { canResetByMail } from "../../users/mails";
import type { FlowFailure, Oidc, Purpose } from "../flows";
import { findLink } from "../links";
import { CALLBACK_PATH, type Claims, type Failure, shortClaims } from "../provider";
import { deadLinkPage } from "./dead-link";
import { safeReturnPath } from "./refused-form";

const PUBLIC = { kind: "public" } as const;

/** Sign-in by which an invitation is accepted, or a path opened. */
type SignInPurpose = Extract<Purpose, { kind: "sign-in" }>;

/** Routes `/admin/sign-in/provider`, `/admin/join/{token}/provider` and `/admin/sign-in/callback`. */
export function providerAdminRoutes(deps: AdminDependencies) {
  const { ctx, flashes, render, sessions, oidc } = deps;

  function showNone(request: Request) {
    const children = <p>Users of this server sign in with a password.</p>;
    return render.plain(request, { title: "No provider is set up", status: 404, children });
  }

  /** Leads a browser to the provider, from the public address: cookie and callback share its host. */
  async function begin(
    { request, requestContext }: { request: Request; requestContext: RequestContext },
    path: string,
    purpose: SignInPurpose,
  ): Promise<Response> {
    if (!oidc) return showNone(request);
    if (!isAtPublicAddress(ctx.baseUrl, request)) {
      return seeOther(atPublicAddress(ctx.baseUrl, path, { next: purpose.next }));
    }
    const begun = await oidc.flows.begin(purpose);
    if ("failure" in begun) return fail(request, requestContext, oidc, { ...begun, purpose });
    return seeOther(begun.url, { "Set-Cookie": flowCookie(ctx, begun.sealed) });
  }

  /** Answers every failure alike. The log has its reason. */
  async function fail(
    request: Request,
    { requestId, address }: RequestContext,
    { provider }: Oidc,
    { failure, isTrouble, purpose, rejected }: FlowFailure & { rejected?: Rejected },
  ): Promise<Response> {
    const facts = { request: requestId, ip: address.ip, ...rejected, reason: failure };
    const message = "a sign-in with the provider was not completed";
    if (isTrouble) ctx.log.warn(facts, message);
    else ctx.log.info(facts, message);
    const isConnection = purpose?.kind === "connect";
    const answer = await render.plain(request, {
      title: isConnection ? "Not connected" : "Sign-in was not completed",
      status: rejected ? 403 : 400,
      children: isConnection ? (
        <NotConnected
          why={rejected && `${failure}. ${rejected.remedy}`}
          system={provider.name}
          requestId={requestId}
        />
      ) : (
        <NotCompleted
          again={againPath(purpose)}
          requestId={requestId}
          system={rejected && provider.name}
        />
      ),
    });
    // The cookie of a sign-in that another page has not begun is left alone.
    if (purpose) answer.headers.append("Set-Cookie", endedFlowCookie(ctx));
    return answer;
  }

  /** Answers a person who is not let in. */
  function reject(
    { request, requestContext }: { request: Request; requestContext: RequestContext },
    parts: Oidc,
    person: Person,
    purpose: Purpose,
    rejection: Rejection,
  ): Promise<Response> {
    const { subject, email } = person;
    const { reason: failure, remedy } = REJECTIONS[rejection];
    const rejected = { subject, email, remedy };
    return fail(request, requestContext, parts, { failure, isTrouble: false, purpose, rejected });
  }

  /**
   * Asks if an invitation is to be accepted, unless the e-mail of the person shows that it is theirs: a stranger who was
   * sent the link could otherwise get the account of another user. Undefined if there is nothing to ask.
   */
  async function askToJoin(
    request: Request,
    { flows, provider }: Oidc,
    person: Person,
    { invitation }: SignInPurpose,
  ): Promise<Response | undefined> {
    if (invitation === undefined) return undefined;
    const outcome = findSignInOutcome(ctx, ctx.db, person, { invitation });
    if ("rejection" in outcome || outcome.kind !== "link") return undefined;
    if (isAddressee(person, outcome.user)) return undefined;
    // Of the groups, which may be many, one decides.
    const groups = outcome.rule ? [outcome.rule.group] : [];
    const pending: PendingJoin = { person: { ...person, groups }, invitation };
    return render.plain(request, {
      title: "Is this invitation for you?",
      children: (
        <ConfirmJoin
          action={invitedPath(invitation)}
          cancelHref={linkPath("invite", invitation)}
          pending={flows.sealForForm(pending)}
          system={provider.name}
          label={labelOf(person)}
          email={outcome.user.email}
        />
      ),
    });
  }

  /** Ends the cookie of a sign-in that was completed. */
  function finished(answer: Response): Response {
    answer.headers.append("Set-Cookie", endedFlowCookie(ctx));
    return answer;
  }

  /** Starts the session of a person, or returns the reason why not. */
  async function signIn(
    request: Request,
    requestContext: RequestContext,
    person: Person,
    { next, invitation }: SignInPurpose,
  ): Promise<Response | Rejection> {
    const origin = sessionOriginOf(request, requestContext);
    const replaced = findAnySession(ctx, sessions, request, ctx.clock.now());
    const signedIn = await ctx.db.write((tx) =>
      signInPerson(ctx, tx, person, { origin, replaced, invitation }),
    );
    if ("rejection" in signedIn) return signedIn.rejection;
    const { sessionToken } = signedIn;
    return seeOther(safeReturnPath(next), { "Set-Cookie": sessionCookie(ctx, sessionToken) });
  }

  /** Connects a person with the user whose session began it, or returns the reason why not. */
  async function connect(
    request: Request,
    requestContext: RequestContext,
    person: Person,
    sessionId: number,
  ): Promise<Response | Rejection | undefined> {
    const { ip } = requestContext.address;
    const connected = await ctx.db.write((tx) => {
      const session = findFullSession(ctx, sessions, request, ctx.clock.now());
      if (session?.id !== sessionId) return undefined;
      const { user } = session;
      return { rejected: connectPerson(ctx, tx, user.id, person, userActor(user, ip)) };
    });
    if (!connected) return undefined;
    if (connected.rejected) return connected.rejected.rejection;
    return flashes.redirect(sessionId, ACCOUNT_PATH, `You are connected with ${person.system}.`);
  }

  /** Keeps the result of a trial for the screen of the owner who began it. */
  async function keepTrial(
    { request, requestContext }: { request: Request; requestContext: RequestContext },
    parts: Oidc,
    purpose: Extract<Purpose, { kind: "try" }>,
    result: Claims | Failure,
  ): Promise<Response> {
    const session = findFullSession(ctx, sessions, request, ctx.clock.now());
    if (session?.id !== purpose.sessionId) {
      return fail(request, requestContext, parts, { ...ENDED_SESSION, purpose });
    }
    const kept = "failure" in result ? result : shortClaims(result, ctx.config);
    parts.flows.trials.set(session.id, kept);
    return finished(seeOther(TRIED_PATH));
  }

  return declareRoutes()
    .get(
      PROVIDER_PATH,
      async ({ request, requestContext, query }) => {
        const purpose = { kind: "sign-in", next: safeReturnPath(query["next"]) } as const;
        return begin({ request, requestContext }, PROVIDER_PATH, purpose);
      },
      screenOperation(PUBLIC),
    )
    .get(
      "/admin/join/:token/provider",
      async ({ request, requestContext, params: { token } }) => {
        if (!oidc) return showNone(request);
        const link = findLink(ctx.db, token, ctx.clock.now());
        if (link?.purpose !== "invite") {
          return render.plain(request, deadLinkPage("join", canResetByMail(ctx)));
        }
        const purpose = { kind: "sign-in", next: HOME_PATH, invitation: token } as const;
        return begin({ request, requestContext }, invitedPath(token), purpose);
      },
      screenOperation(PUBLIC),
    )
    .post(
      "/admin/join/:token/provider",
      async ({ request, requestContext, params: { token }, body: form }) => {
        if (!oidc) return seeOther(SIGN_IN_PATH);
        const pending = oidc.flows.openFromForm(form.text("pending")) as PendingJoin | undefined;
        if (pending?.invitation !== token) {
          return fail(request, requestContext, oidc, ENDED_CONFIRMATION);
        }
        const purpose = { kind: "sign-in", next: HOME_PATH, invitation: token } as const;
        const answer = await signIn(request, requestContext, pending.person, purpose);
        if (answer instanceof Response) return answer;
        return reject({ request, requestContext }, oidc, pending.person, purpose, answer);
      },
      { ...formBody(), ...screenOperation(PUBLIC) },
    )
    .get(
      CALLBACK_PATH,
      async ({ request, requestContext }) => {
        if (!oidc) return showNone(request);
        const query = splitUrl(request.url)?.query ?? "";
        const at = { request, requestContext };
        const outcome = await oidc.flows.finish(query, readFlowCookies(ctx, request));
        if ("failure" in outcome) {
          return outcome.purpose?.kind === "try"
            ? keepTrial(at, oidc, outcome.purpose, outcome)
            : fail(request, requestContext, oidc, outcome);
        }
        const { purpose, claims } = outcome;
        if (purpose.kind === "try") return keepTrial(at, oidc, purpose, claims);
        const person = personOfProvider(oidc.provider, claims, ctx.config);
        const answer =
          purpose.kind === "connect"
            ? await connect(request, requestContext, person, purpose.sessionId)
            : ((await askToJoin(request, oidc, person, purpose)) ??
              (await signIn(request, requestContext, person, purpose)));
        if (answer === undefined) {
          return fail(request, requestContext, oidc, { ...ENDED_SESSION, purpose });
        }
        if (answer instanceof Response) return finished(answer);
        return reject(at, oidc, person, purpose, answer);
      },
      screenOperation(PUBLIC),
    );
}

const ENDED_SESSION = {
  failure: "The session that began it has ended, or is another one.",
  isTrouble: false,
};

const ENDED_CONFIRMATION = {
  failure:
    "The confirmation of the invitation is older than 10 minutes or was not made by this run of the server.",
  isTrouble: false,
};

/** A person who is not let in, and what can be done, for the log. */
interface Rejected {
  subject: string;
  email: string | undefined;
  remedy: string;
}

/** A person who opened an invitation, until the person confirms it. */
interface PendingJoin {
  person: Person;
  invitation: string;
}

/** Returns the path that begins a sign-in by an invitation. */
export function invitedPath(token: string): string {
  return `${linkPath("invite", token)}/provider`;
}

function againPath(purpose: Purpose | undefined): string {
  if (purpose?.kind !== "sign-in") return SIGN_IN_PATH;
  const { next, invitation } = purpose;
  return invitation === undefined
    ? withQuery(SIGN_IN_PATH, { next: next === HOME_PATH ? undefined : next })
    : linkPath("invite", invitation);
}

/** Question if an invitation is for the person who opened it. */
function ConfirmJoin(props: {
  action: string;
  cancelHref: string;
  /** Sealed `PendingJoin`. */
  pending: string;
  /** Name of the provider. */
  system: string;
  /** Name of the person at the provider. */
  label: string;
  /** E-mail of the user who was invited. */
  email: string;
}) {
  const { action, cancelHref, pending, system, label, email } = props;
  return (
    <>
      <p>
        At {system} you are <bdi>{label}</bdi>. The invitation is for <bdi>{email}</bdi>.
      </p>
      <p class="muted">
        If you accept it, {system} signs you in here as {email} from now on. If you are not {email},
        cancel, and ask an owner of this server about the link.
      </p>
      <Form action={action} hidden={{ pending }}>
        <Actions>
          <Button kind="primary">Accept invitation</Button>
          <ButtonLink href={cancelHref}>Cancel</ButtonLink>
        </Actions>
      </Form>
    </>
  );
}

/** Page of every sign-in that was not completed. `system` is set if the provider has identified the person. */
function NotCompleted(props: { again: string; requestId: string; system: string | undefined }) {
  const { again, requestId, system } = props;
  return (
    <>
      {system === undefined ? null : (
        <p>
          {system} knows you, but no account here is open to you. Ask an owner of this server: an
          owner can invite you, give you a role, or see in the log what is missing. If you have a
          password here, sign in with it and connect in Account.
        </p>
      )}
      <ReasonInLog requestId={requestId} />
      <Actions>
        <ButtonLink href={again} kind="primary">
          Start again
        </ButtonLink>
      </Actions>
    </>
  );
}

/** Page of a signed-in user who was not connected. `why` is undefined for reasons that only the log has. */
function NotConnected(props: { system: string; why: string | undefined; requestId: string }) {
  const { system, why, requestId } = props;
  return (
    <>
      {why === undefined ? (
        <p>You are not connected with {system}.</p>
      ) : (
        <p>You are not connected: {why}</p>
      )}
      <ReasonInLog requestId={requestId} />
      <Actions>
        <ButtonLink href={ACCOUNT_PATH} kind="primary">
          Back to Account
        </ButtonLink>
      </Actions>
    </>
  );
}

function ReasonInLog({ requestId }: { requestId: string }) {
  return (
    <p class="muted">
      The log of the server has the reason under <code>{requestId}</code>.
    </p>
  );
}
