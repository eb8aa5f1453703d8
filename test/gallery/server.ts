import { type Assets, createAssets, linkedAssets, UI_ASSETS } from "../../src/ui/assets";
import { GALLERY_PATH, renderGallery } from "./page";

/** Port of `bun run gallery`. */
const PORT = 3100;

export interface GalleryServer {
  server: Bun.Server<undefined>;
  /** Requests of pages so far: method, path and body. */
  requests: string[];
  /** Answers by method and path; the gallery unless set. */
  answers: Map<string, (request: Request) => Response | Promise<Response>>;
}

/**
 * Serves the gallery on the loopback address, with its assets and its policy. Port 0 is a free port.
 * `routes` adds files of a test by path.
 */
export function serveGallery(
  port: number,
  routes: Record<string, () => Response> = {},
): GalleryServer {
  const assets = createAssets(UI_ASSETS);
  const gallery = renderGallery(linkedAssets(), Date.now());
  const requests: string[] = [];
  const answers: GalleryServer["answers"] = new Map();
  const server = Bun.serve({
    port,
    hostname: "127.0.0.1",
    routes,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      if (pathname.startsWith("/assets/")) return sendAsset(assets, pathname);
      const body = request.method === "POST" ? ` ${await request.clone().text()}` : "";
      requests.push(`${request.method} ${pathname}${search}${body}`);
      const answer = answers.get(`${request.method} ${pathname}`);
      if (answer) return answer(request);
      return new Response(gallery.html, {
        headers: {
          "Content-Type": "text/html;charset=utf-8",
          "Content-Security-Policy": gallery.policy,
        },
      });
    },
  });
  return { server, requests, answers };
}

async function sendAsset(assets: Assets, path: string): Promise<Response> {
  const asset = await assets.find(path.replace("/assets/", ""));
  const source = UI_ASSETS.find(({ name }) => name.endsWith(path.slice(path.lastIndexOf("."))));
  if (!asset || !source) return new Response(null, { status: 404 });
  return new Response(asset.bytes, { headers: { "Content-Type": source.mediaType } });
}

if (import.meta.main) {
  const { server } = serveGallery(PORT);
  console.log(new URL(GALLERY_PATH, server.url).href);
}
