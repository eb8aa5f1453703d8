import type { ComponentChildren } from "preact";
import { isLiveRefresh, sendHtml, sendLive } from "../../http/answers";
import type { Role } from "../../base/actor";
import type { ClientAddresses } from "../../http/client-address";
import { readTheme } from "../../http/cookies";
import { type RequestContext, sessionOf } from "../../http/request-context";
import { linkedAssets } from "../assets";
import type { Flashes } from "./flashes";
import type { Place } from "./places";
import { renderPlainScreen, renderScreen } from "./shell";
import type { SideState } from "./side-state";

/** Request that a screen responds to. */
export interface ScreenRequest {
  request: Request;
  requestContext: RequestContext;
}

export interface Screen {
  title: string;
  /** HTTP status; 200 by default, 422 for a form with errors. */
  status?: number;
  headers?: Record<string, string>;
  /** True if the screen shows a secret, which browsers must not store. */
  isSecret?: boolean;
  /** True if the screen is not refreshed while it is open. */
  isStill?: boolean;
  children: ComponentChildren;
}

/** Renders screens as responses, with navigation, pending messages and security headers. */
export interface Renderer {
  /** Renders a screen for a signed-in user. */
  screen(at: ScreenRequest, screen: Screen): Promise<Response>;
  /** Renders a screen without a user: sign-in, set-up or invitation. */
  plain(request: Request, screen: Screen): Promise<Response>;
}

export function createRenderer({
  flashes,
  addresses,
  places,
  readSide,
}: {
  flashes: Flashes;
  addresses: ClientAddresses;
  /** Returns the places that a role may open. */
  places(role: Role): readonly Place[];
  /** Reads the state that the sidebar shows, at `now` (unix ms). */
  readSide(now: number): SideState;
}): Renderer {
  /** Returns the warnings about the installation that every screen shows. */
  function warnings(): string[] {
    const proxy = addresses.suspectedProxy();
    if (proxy === undefined) return [];
    return [
      `The header X-Forwarded-For of requests from ${proxy} is ignored. If that address is your reverse proxy, all clients behind it share one rate limit: add it to ALLCLEAR_TRUSTED_PROXIES and restart the server.`,
    ];
  }

  return {
    async screen({ request, requestContext }, { title, children, ...options }) {
      const { id, user } = sessionOf(requestContext);
      const isRefresh = isLiveRefresh(request);
      const flash = isRefresh ? undefined : flashes.take(id);
      const side = readSide(requestContext.now);
      const livePath = livePathOf(request, options);
      const document = renderScreen({
        title,
        theme: readTheme(request),
        user,
        places: places(user.role),
        path: requestContext.route?.path ?? "",
        side,
        now: requestContext.now,
        livePath,
        warnings: warnings(),
        assets: linkedAssets(),
        children,
        ...(flash ? { flash } : {}),
      });
      const isLive = isRefresh && livePath !== undefined;
      return isLive ? sendLive(request, document) : sendHtml(request, document, options);
    },

    async plain(request, { title, children, ...options }) {
      const document = renderPlainScreen({
        title,
        theme: readTheme(request),
        assets: linkedAssets(),
        children,
      });
      return sendHtml(request, document, options);
    },
  };
}

/**
 * Returns the path with which a screen is requested again; undefined for a screen that is still, and for the
 * answer to a form and a screen with a secret, which are shown once.
 */
function livePathOf(
  request: Request,
  {
    status = 200,
    isSecret = false,
    isStill = false,
  }: Pick<Screen, "status" | "isSecret" | "isStill">,
): string | undefined {
  if (request.method === "POST" || status !== 200 || isSecret || isStill) return undefined;
  // Not parsed, since the host may be invalid.
  return request.url.replace(/^[a-z]+:\/\/[^/]*/i, "");
}
