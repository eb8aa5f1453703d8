import { expect } from "bun:test";
import type { Answer, CallOptions, TestApp } from "./app";
import { HTML } from "./dashboard";

export const BEGIN = "/admin/sign-in/provider";

/** A browser without a window: it keeps cookies as the application sets them. */
export class BrowserClient {
  readonly cookies = new Map<string, string>();
  readonly #app: TestApp;

  constructor(app: TestApp, session?: string) {
    this.#app = app;
    if (session !== undefined) this.cookies.set(this.#sessionName, session);
  }

  get #isSecure(): boolean {
    return this.#app.ctx.baseUrl.startsWith("https:");
  }

  get #sessionName(): string {
    return this.#isSecure ? "__Host-allclear" : "allclear_session";
  }

  /** Token of the session; undefined without one. */
  get session(): string | undefined {
    return this.cookies.get(this.#sessionName);
  }

  /** Sealed secrets of a sign-in that is under way; undefined without one. */
  get flow(): string | undefined {
    return this.cookies.get(this.#isSecure ? "__Host-allclear_flow" : "allclear_flow");
  }

  /** Requests a path with the cookies, and keeps those of the answer. */
  async open(path: string, options: CallOptions = {}): Promise<Answer> {
    const cookie = Array.from(this.cookies, ([name, value]) => `${name}=${value}`).join("; ");
    const answer = await this.#app.call(path, {
      ...options,
      headers: { ...HTML, "sec-fetch-site": "same-origin", cookie, ...options.headers },
    });
    for (const text of answer.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(text) ?? [];
      if (/; Max-Age=0;/.test(text)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return answer;
  }

  /** Begins a sign-in, and returns the address at the provider. */
  async begin(path: string = BEGIN): Promise<string> {
    const answer = await this.open(path);
    expect(answer.status).toBe(303);
    return answer.headers.get("location") ?? "";
  }

  /** Signs in with a provider, whose `authorize` leads back at once, and returns the answer to the callback. */
  async signIn(
    provider: { authorize(address: string): Promise<string> },
    path: string = BEGIN,
  ): Promise<Answer> {
    return this.open(await provider.authorize(await this.begin(path)));
  }
}
