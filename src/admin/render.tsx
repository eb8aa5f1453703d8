import type { ComponentChildren } from "preact";
import { type RequestContext, type ClientAddresses, sendHtml, sessionOf } from "../http";
import { linkedAssets } from "../ui";
import type { Flashes } from "./flashes";
import { navigationFor } from "./navigation";
import { renderPlainScreen, renderScreen } from "./shell";

/** The request that a screen answers. */
export interface ScreenRequest {
  request: Request;
  requestContext: RequestContext;
}

export interface Screen {
  title: string;
  /** 200 unless given; 422 where a form comes back with what is wrong. */
  status?: number;
  headers?: Record<string, string>;
  /** Whether it shows something that is shown once. */
  isSecret?: boolean;
  children: ComponentChildren;
}

/** Answers with screens: the shell around them, what waits to be told, and the policy of the page. */
export interface Renderer {
  /** A screen of somebody who is signed in. */
  screen(at: ScreenRequest, screen: Screen): Promise<Response>;
  /** A screen of somebody who is not: signing in, setting up, accepting an invitation. */
  plain(request: Request, screen: Screen): Promise<Response>;
}

export function createRenderer(parts: { flashes: Flashes; addresses: ClientAddresses }): Renderer {
  const { flashes, addresses } = parts;

  /** What everybody who works here should know, whatever they came for. */
  function warnings(): string[] {
    const proxy = addresses.suspectedProxy();
    if (proxy === undefined) return [];
    return [
      `Requests from ${proxy} carry X-Forwarded-For, which is ignored. If that is your reverse proxy, everyone behind it shares one rate limit: name it in ALLCLEAR_TRUSTED_PROXIES and restart.`,
    ];
  }

  return {
    async screen({ request, requestContext }, { title, children, ...how }) {
      const { id, user } = sessionOf(requestContext);
      const flash = flashes.take(id);
      const document = renderScreen({
        title,
        user,
        nav: navigationFor(user.role, requestContext.route?.path ?? ""),
        warnings: warnings(),
        assets: linkedAssets(),
        children,
        ...(flash ? { flash } : {}),
      });
      return sendHtml(request, document, how);
    },

    async plain(request, { title, children, ...how }) {
      const document = renderPlainScreen({ title, assets: linkedAssets(), children });
      return sendHtml(request, document, how);
    },
  };
}
