import { parse } from "csv-parse/sync";
import {
  type Answer,
  type CallOptions,
  createTestApp,
  expectProblem,
  type TestApp,
  type TestPage,
} from "./app";

/** An app with a page acme of the components API and Website, and a key that reads its figures. */
export interface AnalyticsSite extends AsyncDisposable {
  app: TestApp;
  key: string;
  page: TestPage["page"];
  /** Component ids by name. */
  components: Record<string, string>;
  /** Reads below `/api/v1/analytics/` with the key. */
  read(path: string, options?: CallOptions): Promise<Answer>;
  /** Reads analytics as CSV: header and rows, as a parser returns them. */
  csv(path: string): Promise<{ header: string[]; lines: string[][]; answer: Answer }>;
  /** Expects a rejection that names the parameter. */
  expectRejected(path: string, parameter: string): Promise<void>;
}

export async function createAnalyticsSite(): Promise<AnalyticsSite> {
  const app = await createTestApp();
  const { page, components } = await app.page();
  const key = await app.keyWith("read:analytics");
  const read: AnalyticsSite["read"] = (path, options = {}) =>
    app.call(`/api/v1/analytics/${path}`, { key, ...options });
  return {
    app,
    key,
    page,
    components,
    read,
    async csv(path) {
      const answer = await read(path, { headers: { accept: "text/csv" } });
      const [header = [], ...lines] = parse(answer.text, { recordDelimiter: "\r\n" });
      return { header, lines, answer };
    },
    async expectRejected(path, parameter) {
      const { errors } = expectProblem(await read(path), "invalid_request");
      if (errors?.[0]?.pointer !== `#/${parameter}`) throw new Error(JSON.stringify(errors));
    },
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}
