import { describe, expect, test } from "bun:test";
import {
  adviceFor,
  describeFailure,
  reasonOf,
} from "../../../../src/features/webhooks/screens/delivery";

const status = (statusCode: number) => ({ statusCode, error: null });
const fault = (error: string | null) => ({ statusCode: null, error });

describe("the words for a failed attempt", () => {
  test.each([
    { failure: status(503), text: "503 Service Unavailable" },
    { failure: status(799), text: "status 799" },
    { failure: fault("The connection was refused."), text: "The connection was refused." },
    { failure: fault(null), text: "No response" },
  ])("the response is described as “$text”", ({ failure, text }) => {
    expect(describeFailure(failure)).toBe(text);
  });

  test.each([
    { failure: status(404), text: "The endpoint answered 404 Not Found." },
    { failure: fault("Timed out connecting."), text: "Timed out connecting." },
    {
      failure: fault("The host's address is no address"),
      text: "The host's address is no address.",
    },
    { failure: fault(null), text: "The endpoint did not answer." },
  ])("the reason is the sentence “$text”", ({ failure, text }) => {
    expect(reasonOf(failure)).toBe(text);
  });

  test.each([
    { failure: status(302), step: "final URL" },
    { failure: status(401), step: "token or password" },
    { failure: status(404), step: "path in the URL" },
    { failure: status(410), step: "delete the webhook" },
    { failure: status(413), step: "20 KB" },
    { failure: status(418), step: "read the response" },
    { failure: status(429), step: "raise its limit" },
    { failure: status(500), step: "log of the receiver" },
    { failure: fault("The certificate has expired."), step: "Renew" },
    { failure: fault("The TLS handshake failed (EPROTO)."), step: "certificate" },
    { failure: fault("The name has no address."), step: "host in the URL" },
    { failure: fault("Timed out connecting."), step: "15 seconds" },
    { failure: fault("There is no route to the host."), step: "receiver runs" },
    { failure: fault("The connection was refused."), step: "receiver runs" },
    { failure: fault("The message could not be written."), step: "log of this server" },
    { failure: fault(null), step: "receiver runs" },
  ])("the advice after a failed attempt mentions “$step”", ({ failure, step }) => {
    expect(adviceFor(failure)).toContain(step);
  });

  test("a private address has no further advice, since its reason names the setting", () => {
    const reason = "The host's address is not an address of the public internet; to allow …";
    expect(adviceFor(fault(reason))).toBeUndefined();
  });
});
