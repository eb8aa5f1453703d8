import { Elysia } from "elysia";
import { formatNetwork } from "../../base/config/parse";
import { MAIL_OPTION_NAMES } from "../../base/config/mail";
import { type OptionName, setterOf } from "../../base/config/options";
import { conflict, type FieldError } from "../../base/errors";
import { endSession, startSession } from "../../features/auth/sessions";
import { isHttps } from "../../features/auth/rules";
import { recordBackup } from "../../features/backups/last-backup";
import { mailReadiness, readMailSettings } from "../../features/mail/settings";
import {
  readAllowedNetworks,
  setAllowedNetworks,
  validateAllowedNetworks,
} from "../../features/settings/allowed-networks";
import {
  readPublicAddress,
  setPublicAddress,
  validatePublicAddress,
} from "../../features/settings/service";
import { actorOf, sessionOf } from "../../http/request-context";
import { formBody } from "../../http/form-body";
import { NO_STORE } from "../../http/representation";
import { readTheme, sessionCookie } from "../../http/cookies";
import { seeOther } from "../../http/answers";
import { session } from "../../http/operation";
import { sessionOriginOf } from "../../ui/frame/browser";
import type { AdminDependencies } from "../../ui/frame/dependencies";
import { keptNotice } from "../../ui/forms/form";
import { GENERAL_PATH } from "../../ui/frame/paths";
import type { ScreenRequest } from "../../ui/frame/render";
import { KEEPS_TYPED, screenOperation } from "../../ui/screens/routes";
import { readFacts } from "./facts";
import { ADDRESS_FORM, General, NETWORKS_FORM } from "./general";
import type { SettingsInForce } from "./settings-table";

/** Text that a form shows again, with its errors or the message of a kept form. */
interface Typed {
  text: string;
  errors?: readonly FieldError[];
  kept?: string;
}

/** Forms that are shown again, or the reason why a backup failed. */
interface Again {
  address?: Typed;
  networks?: Typed;
  backup?: { message: string };
  status?: number;
}

/** Settings → General: for owners. */
export function generalAdminRoutes({
  ctx,
  requestContexts,
  render,
  flashes,
  sessions,
  backups,
  writeAs,
}: AdminDependencies) {
  const MAY_MANAGE = session("owner");

  function settingsInForce(): SettingsInForce {
    const stored = new Set<OptionName>();
    if (readPublicAddress(ctx.db) !== undefined) stored.add("baseUrl");
    if (readAllowedNetworks(ctx.db).length > 0) stored.add("outboundAllow");
    const mail = readMailSettings(ctx);
    if (mail?.origin === "dashboard") for (const name of MAIL_OPTION_NAMES) stored.add(name);
    const { baseUrl: publicAddress, config, allowedNetworks } = ctx;
    return { config, publicAddress, allowedNetworks, mail, stored };
  }

  async function show(at: ScreenRequest, again: Again = {}) {
    const { address, networks, backup, status = 200 } = again;
    const allowed = ctx.allowedNetworks.map(formatNetwork).join("\n");
    const addressValues = { public_address: address?.text ?? ctx.baseUrl };
    const networkValues = { allowed_networks: networks?.text ?? allowed };
    const addressState = ADDRESS_FORM.rejected(addressValues, address?.errors ?? [], {});
    const networksState = NETWORKS_FORM.rejected(networkValues, networks?.errors ?? [], {});
    return render.screen(at, {
      title: "General",
      status,
      children: (
        <General
          address={{ ...addressState, kept: address?.kept }}
          networks={{ ...networksState, kept: networks?.kept }}
          settings={settingsInForce()}
          facts={await readFacts(ctx)}
          mail={mailReadiness(ctx)}
          theme={readTheme(at.request)}
          backupProblem={backup?.message}
        />
      ),
    });
  }

  /** Throws `conflict` if a flag or a variable sets an option. */
  function requireChangeable(name: OptionName, what: string): void {
    const setter = setterOf(ctx.config, name);
    if (setter !== undefined) throw conflict(`${what} set by ${setter}.`);
  }

  return new Elysia({ prefix: GENERAL_PATH })
    .use(requestContexts.plugin)
    .get(
      "",
      async ({ request, requestContext }) => show({ request, requestContext }),
      screenOperation("Show the settings of the installation", MAY_MANAGE),
    )
    .post(
      "",
      async ({ request, requestContext, body: form }) => {
        requireChangeable("baseUrl", "The public address is");
        const text = form.text("public_address").trim();
        const kept = keptNotice(form);
        if (kept !== undefined)
          return show({ request, requestContext }, { address: { text, kept } });
        const errors = validatePublicAddress(text);
        if (errors.length > 0) {
          return show({ request, requestContext }, { address: { text, errors }, status: 422 });
        }
        const { id, user } = sessionOf(requestContext);
        const { isChanged, token } = await writeAs(requestContext, (tx) => {
          const before = readPublicAddress(tx);
          const baseUrl = setPublicAddress(ctx, tx, text, actorOf(requestContext));
          const isChanged = baseUrl !== before;
          if (isHttps(baseUrl) === isHttps(ctx.baseUrl)) return { isChanged };
          // The change ends all sessions. Its author gets a new one; reverting the change does not
          // restore the old one.
          endSession(tx, user.id, id);
          const origin = sessionOriginOf(request, requestContext);
          return { isChanged, token: startSession({ ...ctx, baseUrl }, tx, user.id, origin) };
        });
        const current = token === undefined ? undefined : sessions.find(token, ctx.clock.now());
        const done = isChanged ? "The public address was changed." : undefined;
        const answer = flashes.redirect(current?.id ?? id, GENERAL_PATH, done);
        if (token !== undefined) answer.headers.set("Set-Cookie", sessionCookie(ctx, token));
        return answer;
      },
      { ...formBody(), ...screenOperation("Change the public address", MAY_MANAGE, KEEPS_TYPED) },
    )
    .get(
      "/networks",
      () => seeOther(GENERAL_PATH),
      screenOperation("Redirect to the settings of the installation", MAY_MANAGE),
    )
    .post(
      "/networks",
      async ({ request, requestContext, body: form }) => {
        requireChangeable("outboundAllow", "The allowed networks are");
        const text = form.text("allowed_networks");
        const kept = keptNotice(form);
        if (kept !== undefined) {
          return show({ request, requestContext }, { networks: { text, kept } });
        }
        const errors = validateAllowedNetworks(text);
        if (errors.length > 0) {
          return show({ request, requestContext }, { networks: { text, errors }, status: 422 });
        }
        const isChanged = await writeAs(requestContext, (tx) =>
          setAllowedNetworks(ctx, tx, text, actorOf(requestContext)),
        );
        const done = isChanged ? "The allowed networks were changed." : undefined;
        return flashes.redirect(sessionOf(requestContext).id, GENERAL_PATH, done);
      },
      { ...formBody(), ...screenOperation("Change the allowed networks", MAY_MANAGE, KEEPS_TYPED) },
    )
    .get(
      "/backup",
      () => seeOther(GENERAL_PATH),
      screenOperation("Redirect to the settings of the installation", MAY_MANAGE),
    )
    .post(
      "/backup",
      async ({ request, requestContext }) => {
        const taken = await backups.take(request, (bytes) =>
          writeAs(requestContext, (tx) => recordBackup(ctx, tx, bytes, actorOf(requestContext))),
        );
        if ("message" in taken) {
          return show({ request, requestContext }, { backup: taken, status: taken.status });
        }
        return new Response(Bun.file(taken.path), {
          headers: {
            "Content-Type": "application/vnd.sqlite3",
            "Content-Length": String(taken.bytes),
            "Content-Disposition": `attachment; filename="${taken.name}"`,
            "Cache-Control": NO_STORE,
          },
        });
      },
      { ...formBody(), ...screenOperation("Download a backup of the database", MAY_MANAGE) },
    );
}
