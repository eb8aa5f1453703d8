/*
 * *Settings*: the screens about access, messages and the server, each as a link with what it holds now.
 */
import type { ComponentChildren } from "preact";
import { ROLES } from "../../../base/actor";
import { PRODUCTS } from "../../../base/import-report";
import { runInSlices } from "../../../base/in-slices";
import { formatBytes, percent } from "../../../base/numbers";
import { andList, capitalised, plural } from "../../../base/text";
import { DAY_MS, EXPIRES_SOON_MS, toIso } from "../../../base/time";
import type { Ctx } from "../../../context";
import { listNewestAudits } from "../../../events/audit-search";
import { sessionOf } from "../../../http/request-context";
import { State } from "../../../ui/blocks";
import { DetailRow } from "../../../ui/detail";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import {
  ACCOUNT_PATH,
  ACTIVITY_PATH,
  BACKUPS_PATH,
  FLEET_PATH,
  GENERAL_PATH,
  IMPORTS_PATH,
  KEYS_PATH,
  LOCATIONS_PATH,
  MAIL_PATH,
  SETTINGS_PATH,
  SIGN_IN_SETTINGS_PATH,
  USERS_PATH,
  WEBHOOKS_PATH,
} from "../../../ui/frame/paths";
import type { Place } from "../../../ui/frame/places";
import { countFailingWebhooks } from "../../../ui/frame/side-state";
import { Icon } from "../../../ui/icons";
import { PageHead } from "../../../ui/navigation";
import { createArea } from "../../../ui/screens/area";
import { RelativeTime, relativeTime } from "../../../ui/times";
import type { Fleet } from "../../alarms/fleet";
import { providerName } from "../../auth/provider";
import { readLastBackup } from "../../backups/backups";
import { readScheduledBackups } from "../../backups/schedule";
import { countKeys } from "../../keys/records";
import { listLocations } from "../../locations/store";
import { describeMissing, findRelayRecord, mailReadiness } from "../../mail/settings";
import { hasGoneSilent, readContact } from "../../monitors/agent-contact";
import type { Monitoring } from "../../monitors/monitoring";
import { listExpiringKeyRows } from "../../users/store";
import { listUsers } from "../../users/users";
import { listAllWebhooks } from "../../webhooks/store";
import { diskUse } from "./general";

/** `/admin/settings`. Roles that may open none of its screens are led to their account. */
export function settingsAdminRoutes(deps: AdminDependencies) {
  const { ctx, fleet, monitoring, places } = deps;
  const area = createArea(deps, SETTINGS_PATH, "viewer");
  area.screen("", async ({ requestContext }) => {
    const { role } = sessionOf(requestContext).user;
    const { now } = requestContext;
    const below = places(role).filter(({ above }) => above === SETTINGS_PATH);
    if (below.length === 0) return { path: ACCOUNT_PATH };
    const rows = await Promise.all(
      below.map(async (place) => ({
        place,
        note: await NOTES[place.href]?.({ ctx, fleet, monitoring, now }),
      })),
    );
    return { title: "Settings", children: <Settings rows={rows} /> };
  });
  return area.routes;
}

const GROUPS: readonly { id: string; title: string; text: string; paths: readonly string[] }[] = [
  {
    id: "settings-access",
    title: "Access",
    text: "Programs and people that may come in.",
    paths: [KEYS_PATH, USERS_PATH, SIGN_IN_SETTINGS_PATH, ACTIVITY_PATH],
  },
  {
    id: "settings-telling",
    title: "Telling people",
    text: "Where messages go when something changes.",
    paths: [WEBHOOKS_PATH, MAIL_PATH],
  },
  {
    id: "settings-server",
    title: "This server",
    text: "The installation itself and its data.",
    paths: [GENERAL_PATH, LOCATIONS_PATH, IMPORTS_PATH, BACKUPS_PATH, FLEET_PATH],
  },
];

interface SettingsProps {
  rows: readonly { place: Place; note: ComponentChildren }[];
}

/** Three groups of links. A group without a link is left out. */
function Settings({ rows }: SettingsProps) {
  return (
    <>
      <PageHead title="Settings" />
      {GROUPS.map(({ id, title, text, paths }) => {
        const shown = rows.filter(({ place }) => paths.includes(place.href));
        if (shown.length === 0) return null;
        return (
          <section class="settings-group" key={id} aria-labelledby={`${id}-title`}>
            <div>
              <h2 id={`${id}-title`}>{title}</h2>
              <p class="hint">{text}</p>
            </div>
            <ul class="card link-rows" id={id} data-live="">
              {shown.map(({ place: { href, label, icon }, note }) => (
                <DetailRow
                  key={href}
                  shape={<Icon name={icon} />}
                  href={href}
                  title={label}
                  note={note}
                  end={<Icon name="chevron-right" />}
                />
              ))}
            </ul>
          </section>
        );
      })}
    </>
  );
}

interface NoteSource {
  ctx: Ctx;
  fleet: Fleet | undefined;
  monitoring: Monitoring;
  /** Unix ms. */
  now: number;
}

/** Functions that return the note of a row, by its path: the content of its screen, and anything that needs attention. */
const NOTES: Readonly<
  Record<string, (source: NoteSource) => ComponentChildren | Promise<ComponentChildren>>
> = {
  [KEYS_PATH]: async ({ ctx: { db }, now }) => {
    const { live, expiring } = await runInSlices(countKeys(db, now));
    const soon = { now, until: now + EXPIRES_SOON_MS, limit: 1 };
    const [key] = expiring === 1 ? listExpiringKeyRows(db, soon) : [];
    const when = key
      ? `expires ${relativeTime(key.expiresAt, now)}`
      : `expire within ${plural(EXPIRES_SOON_MS / DAY_MS, "day")}`;
    return (
      <>
        {live === 0 ? "No key that works" : plural(live, "key")}
        {expiring === 0 ? null : (
          <>
            , <State tone="degraded">{`${expiring.toLocaleString("en")} ${when}`}</State>
          </>
        )}
      </>
    );
  },

  [USERS_PATH]: ({ ctx: { db } }) => {
    const users = listUsers(db).filter(({ disabled_at }) => disabled_at === null);
    const roles = ROLES.flatMap((role) => {
      const count = users.filter((user) => user.role === role).length;
      return count === 0 ? [] : [plural(count, role)];
    }).join(", ");
    return users.length === 1 ? roles : `${plural(users.length, "user")}: ${roles}`;
  },

  [SIGN_IN_SETTINGS_PATH]: ({ ctx: { config } }) => {
    const password = config.localSignIn === "all" ? "Password" : "Password for owners";
    const proxy = config.identityProxy.length > 0 ? "Identity proxy" : undefined;
    const [first = "", ...others] = [providerName(config), proxy, password].filter(Boolean);
    return [first, ...others.map((other) => String(other).toLowerCase())].join(", ");
  },

  [ACTIVITY_PATH]: ({ ctx: { db }, now }) => {
    const [last] = listNewestAudits(db, { limit: 1 });
    if (!last) return "No changes yet";
    return (
      <>
        <bdi>{last.summary}</bdi> · <bdi>{last.actorLabel}</bdi>,{" "}
        <RelativeTime at={toIso(last.at)} now={now} />
      </>
    );
  },

  [WEBHOOKS_PATH]: ({ ctx: { db }, now }) => {
    const count = listAllWebhooks(db, {}).length;
    const failing = countFailingWebhooks(db, now);
    return (
      <>
        {count === 0 ? "No webhook yet" : plural(count, "webhook")}
        {failing ? (
          <>
            ,{" "}
            <State tone={failing.tone}>
              {failing.count.toLocaleString("en")} {failing.what}
            </State>
          </>
        ) : null}
      </>
    );
  },

  [MAIL_PATH]: ({ ctx, now }) => {
    const readiness = mailReadiness(ctx);
    if (!readiness.ready) {
      const { missing } = readiness;
      return missing.includes("relay") ? (
        "Not set up"
      ) : (
        <State tone="degraded">Needs {describeMissing(missing)}</State>
      );
    }
    const relay = findRelayRecord(ctx.db);
    const since = relay && <RelativeTime at={toIso(relay.since)} now={now} />;
    return (
      <>
        {readiness.settings.host},{" "}
        {!relay ? (
          "nothing sent yet"
        ) : relay.isAvailable ? (
          <>available since {since}</>
        ) : (
          <State tone="major">unavailable since {since}</State>
        )}
      </>
    );
  },

  [GENERAL_PATH]: async ({ ctx }) => {
    const { used, tone } = diskUse(await ctx.db.disk());
    return (
      <>
        {new URL(ctx.baseUrl).host}, check results kept for{" "}
        {plural(ctx.config.keepResultsHours, "hour")}
        {tone === "ok" ? null : (
          <>
            , <State tone={tone}>disk {percent(used, 0)} used</State>
          </>
        )}
      </>
    );
  },

  [LOCATIONS_PATH]: ({ ctx: { db }, monitoring }) => {
    const rows = listLocations(db, {});
    if (rows.length === 0) return "Only this server checks monitors";
    const silent = rows.filter((row) => hasGoneSilent(readContact(row, monitoring))).length;
    return (
      <>
        This server and {plural(rows.length, "location")}
        {silent === 0 ? null : (
          <>
            , <State tone="degraded">{silent.toLocaleString("en")} silent</State>
          </>
        )}
      </>
    );
  },

  [IMPORTS_PATH]: () => {
    return `From ${andList(Object.values(PRODUCTS))}`;
  },

  [BACKUPS_PATH]: ({ ctx: { db }, now }) => {
    const [scheduled, ...earlier] = readScheduledBackups(db);
    const complete = [readLastBackup(db), scheduled, ...earlier].flatMap((backup) =>
      backup?.bytes === undefined ? [] : [{ at: backup.at, bytes: backup.bytes }],
    );
    const last = complete.toSorted((a, b) => b.at - a.at)[0];
    return (
      <>
        {last ? (
          <>
            Last <RelativeTime at={toIso(last.at)} now={now} />, {formatBytes(last.bytes)}
          </>
        ) : (
          "None from the dashboard or the command line yet"
        )}
        {scheduled?.error === undefined ? null : (
          <>
            , <State tone="major">daily backup failed</State>
          </>
        )}
      </>
    );
  },

  [FLEET_PATH]: ({ fleet }) => {
    const nodes = fleet?.nodes?.().nodes ?? [];
    const replicas = nodes.filter(({ role }) => role === "replica").length;
    const parts = [
      ...(nodes.length > 0 ? [`1 primary, ${plural(replicas, "replica")}`] : []),
      ...(fleet?.mirror ? ["mirror"] : []),
      ...(fleet?.cdn ? ["CDN"] : []),
    ];
    const [worst, ...others] = fleet?.alarms.list() ?? [];
    return (
      <>
        {capitalised(parts.join(", "))}
        {worst ? (
          <>
            {parts.length > 0 ? ", " : ""}
            <State tone={worst.tone}>{plural(others.length + 1, "alarm")}</State>
          </>
        ) : null}
      </>
    );
  },
};
