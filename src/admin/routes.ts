import { Elysia } from "elysia";
import type { Snapshots } from "../features/status";
import { IS_COMPILED } from "../version";
import { accountScreens } from "./account/routes";
import { signInScreens } from "./entry/sign-in-routes";
import { welcomeScreens } from "./entry/welcome-routes";
import { designScreen } from "./design-routes";
import { generalScreens } from "./general/routes";
import { keyScreens } from "./keys/routes";
import { overviewScreens } from "./overview/routes";
import type { AdminParts } from "./parts";
import { userScreens } from "./users/routes";

/** The dashboard: every screen under `/admin`. Each route declares the role that may open it. */
export function adminRoutes(parts: AdminParts, snapshots: Snapshots) {
  const screens = new Elysia()
    .use(signInScreens(parts))
    .use(welcomeScreens(parts))
    .use(overviewScreens(parts, snapshots))
    .use(keyScreens(parts))
    .use(userScreens(parts))
    .use(generalScreens(parts))
    .use(accountScreens(parts));
  // Nobody who runs Allclear needs it.
  return IS_COMPILED ? screens : screens.use(designScreen(parts));
}
