import { describe, expect, test } from "bun:test";
import { DOCKER_OPTIONS } from "../../../src/base/config/network";

const { parse } = DOCKER_OPTIONS.dockerHosts;

describe("the option of Docker hosts", () => {
  test("Docker hosts are socket files and addresses, each with a name", () => {
    const hosts = parse(
      "local=unix:///var/run/docker.sock, nas=tcp://10.0.0.5:2376 six=tcp://[2001:db8::1]:2375",
    );
    expect([...hosts]).toEqual([
      ["local", { path: "/var/run/docker.sock" }],
      ["nas", { host: "10.0.0.5", port: 2376 }],
      ["six", { host: "2001:db8::1", port: 2375 }],
    ]);
    expect(parse("").size).toBe(0);
  });

  test("a Docker host without a name, with an unknown scheme or with a relative path is rejected", () => {
    const wrong = [
      "unix:///var/run/docker.sock",
      "local=/var/run/docker.sock",
      "local=unix://docker.sock",
      "local=http://10.0.0.5:2375",
      "local=tcp://10.0.0.5",
      "../x=unix:///var/run/docker.sock",
      ".=unix:///var/run/docker.sock",
    ];
    for (const text of wrong) {
      expect(() => parse(text)).toThrow("and ");
    }
    expect(() => parse("a=unix:///x,a=unix:///y")).toThrow("a is named twice");
  });
});
