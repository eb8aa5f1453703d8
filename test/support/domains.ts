import type { TestApp } from "./app";

export interface HostAnswer {
  status: number;
  headers: Headers;
  text: string;
  // Tests read answers without types.
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any;
}

/**
 * Sends one request to a host through the gateway. Unlike `call`, it does not check the answer
 * against the route of its path, which may be another one on a custom domain.
 */
export async function visit(
  app: TestApp,
  host: string,
  path: string,
  init: RequestInit = {},
): Promise<HostAnswer> {
  const request = new Request(`http://${host}${path}`, init);
  const response = await app.app.handle(request, () => "203.0.113.7");
  const text = await response.text();
  const isJson = (response.headers.get("content-type") ?? "").includes("json");
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson ? JSON.parse(text) : undefined,
  };
}
