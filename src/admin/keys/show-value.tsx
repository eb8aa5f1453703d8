import type { RevealedKey } from "../../features/keys";
import type { AdminDependencies } from "../dependencies";
import type { ScreenRequest } from "../render";
import type { Reveal } from "../reveals";
import { RevealedValue, ShownBefore } from "./reveal";

/** Shows the value that a form has made, under `title`, or the word that it was shown before. */
export function createValueReveal({ ctx, render }: Pick<AdminDependencies, "ctx" | "render">) {
  return (at: ScreenRequest, reveal: Reveal<RevealedKey>, title: string): Promise<Response> => {
    if ("shownBefore" in reveal) {
      const page = { title: "This value was already shown", keyId: reveal.shownBefore };
      return render.screen(at, { title: page.title, children: <ShownBefore {...page} /> });
    }
    const { baseUrl } = ctx;
    const page = { title, revealed: reveal.revealed, baseUrl, now: ctx.clock.now() };
    return render.screen(at, { title, isSecret: true, children: <RevealedValue {...page} /> });
  };
}
