import { Elysia } from "elysia";
import { type FieldError, invalidFields, Problem } from "../../errors";
import { findLink, judgePassword } from "../../features/auth";
import { judgePublicAddress, setPublicAddress } from "../../features/settings";
import { acceptLink, getUser, judgeNewUser, setUpOwner, userActor } from "../../features/users";
import { type Form, formBody, operation, seeOther, sessionCookie } from "../../http";
import { type Complaints, complaintsOrThrow, NO_COMPLAINTS, statusOf } from "../form-errors";
import { type AdminParts, screen } from "../parts";
import { userAgentOf } from "./device";
import { DeadLink, Join, SetUp } from "./welcome";

const PUBLIC = { kind: "public" } as const;

/** `/admin/setup/{token}` and `/admin/join/{token}`: links that open once. */
export function welcomeScreens({ ctx, admissions, screens, passwords }: AdminParts) {
  const hasFixedAddress = ctx.config.baseUrl !== undefined;

  function linkOf(token: string, isSetUp: boolean) {
    const link = findLink(ctx.db, token, ctx.clock.now());
    return link && (link.purpose === "setup") === isSetUp ? link : undefined;
  }

  function showDeadLink(request: Request, isSetUp: boolean) {
    const children = <DeadLink isSetUp={isSetUp} />;
    return screens.showPlain(request, {
      title: "This link opens nothing any more",
      status: 404,
      children,
    });
  }

  function showSetUp(
    request: Request,
    token: string,
    values: { name: string; email: string; publicAddress: string },
    complaints = NO_COMPLAINTS,
  ) {
    const page = { action: `/admin/setup/${token}`, values, complaints, hasFixedAddress };
    return screens.showPlain(request, {
      title: "Set up Allclear",
      status: statusOf(complaints),
      children: <SetUp {...page} />,
    });
  }

  function showJoin(
    request: Request,
    token: string,
    userId: string,
    typed: { name?: string; complaints?: Complaints } = {},
  ) {
    const user = getUser(ctx.db, userId);
    const { name = user.name, complaints = NO_COMPLAINTS } = typed;
    const page = { action: `/admin/join/${token}`, email: user.email, name, complaints };
    return screens.showPlain(request, {
      title: user.has_password ? "Choose a new password" : "Welcome to Allclear",
      status: statusOf(complaints),
      children: <Join {...page} isInvitation={!user.has_password} />,
    });
  }

  return new Elysia()
    .use(admissions.plugin)
    .get(
      "/admin/setup/:token",
      async ({ request, params }) => {
        if (!linkOf(params.token, true)) return showDeadLink(request, true);
        const publicAddress = addressOf(request);
        return showSetUp(request, params.token, { name: "", email: "", publicAddress });
      },
      operation(screen("The form that makes the first user", PUBLIC)),
    )
    .post(
      "/admin/setup/:token",
      async ({ request, admission, params, body: form }) => {
        if (!linkOf(params.token, true)) return showDeadLink(request, true);
        const values = {
          name: form.text("name"),
          email: form.text("email").trim(),
          publicAddress: form.text("public_address").trim(),
        };
        const from = { ip: admission.address.ip, userAgent: userAgentOf(request) };
        try {
          const fields = judgeNewUser({ name: values.name, email: values.email });
          if (!hasFixedAddress) fields.push(...judgePublicAddress(values.publicAddress));
          const passwordHash = await hashChosen(form, values.email, fields);
          const { sessionToken } = await ctx.db.write((tx) => {
            const made = setUpOwner(ctx, tx, params.token, { ...values, passwordHash }, from);
            if (!hasFixedAddress) {
              setPublicAddress(ctx, tx, values.publicAddress, userActor(made.user, from.ip));
            }
            return made;
          });
          return seeOther("/admin", { "Set-Cookie": sessionCookie(ctx, sessionToken) });
        } catch (error) {
          if (isGone(error)) return showDeadLink(request, true);
          return showSetUp(request, params.token, values, complaintsOrThrow(error));
        }
      },
      { ...formBody(), ...operation(screen("Make the first user", PUBLIC)) },
    )
    .get(
      "/admin/join/:token",
      async ({ request, params }) => {
        const link = linkOf(params.token, false);
        if (!link?.userId) return showDeadLink(request, false);
        return showJoin(request, params.token, link.userId);
      },
      operation(screen("The form to choose a password", PUBLIC)),
    )
    .post(
      "/admin/join/:token",
      async ({ request, admission, params, body: form }) => {
        const link = linkOf(params.token, false);
        if (!link?.userId) return showDeadLink(request, false);
        const user = getUser(ctx.db, link.userId);
        const name = user.has_password ? user.name : form.text("name");
        const from = { ip: admission.address.ip, userAgent: userAgentOf(request) };
        try {
          const fields = judgeNewUser({ name, email: user.email, role: user.role });
          const passwordHash = await hashChosen(form, user.email, fields);
          const { sessionToken } = await ctx.db.write((tx) =>
            acceptLink(ctx, tx, params.token, { passwordHash, name }, from),
          );
          return seeOther("/admin", { "Set-Cookie": sessionCookie(ctx, sessionToken) });
        } catch (error) {
          if (isGone(error)) return showDeadLink(request, false);
          const complaints = complaintsOrThrow(error);
          return showJoin(request, params.token, user.id, { name, complaints });
        }
      },
      { ...formBody(), ...operation(screen("Choose a password", PUBLIC)) },
    );

  /** The hash of the chosen password. Throws all that is wrong with the form, before the costly work. */
  async function hashChosen(form: Form, email: string, fields: FieldError[]): Promise<string> {
    const password = form.text("password");
    const complaint = judgePassword(password, email);
    if (complaint !== undefined) fields.push({ pointer: "#/password", detail: complaint });
    if (fields.length > 0) throw invalidFields(fields);
    return passwords.hash(password);
  }
}

function isGone(error: unknown): boolean {
  return error instanceof Problem && (error.code === "not_found" || error.code === "conflict");
}

/** The address that a browser used, as far as its request tells: a proposal, for its user to mend. */
function addressOf(request: Request): string {
  const { host, protocol } = new URL(request.url);
  const isBehindHttps = request.headers.get("x-forwarded-proto") === "https";
  return `${isBehindHttps ? "https:" : protocol}//${host}`;
}
