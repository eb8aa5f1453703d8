import type { Visit } from "./browser-site";
import type { DemoSites } from "./demo-sites";
import type { Screen } from "./screens";

export const WIDE = { width: 1280, height: 800 };
export const SMALL = { width: 390, height: 844 };

/** Opens screens with one browser context per user. */
export interface Tour extends AsyncDisposable {
  /** Opens a screen and performs its actions, in a wide window with a light theme by default. */
  show(screen: Screen): Promise<Visit>;
}

export function startTour(demoSites: DemoSites): Tour {
  const visits = new Map<string, Visit>();

  return {
    async show(screen) {
      const { site, path, session } = screen.open(demoSites);
      const look = { viewport: screen.isSmallOnly ? SMALL : WIDE, colorScheme: "light" as const };
      const who = session ?? site.origin;
      let visit = visits.get(who);
      if (visit) {
        visit.requests.length = 0;
        visit.errors.length = 0;
        await visit.page.setViewportSize(look.viewport);
        await visit.page.emulateMedia({ colorScheme: look.colorScheme });
        await visit.page.goto(site.origin + path);
      } else {
        // Animations would show other colours than the final ones.
        const options = { ...look, locale: "en-GB", reducedMotion: "reduce" } as const;
        visit = await site.visit(path, { session, isLive: false, ...options });
        visits.set(who, visit);
      }
      await screen.reach?.(visit.page, demoSites);
      return visit;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...visits.values()].map(({ page }) => page.context().close()));
    },
  };
}
