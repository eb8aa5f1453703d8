import { expect, test } from "bun:test";
import { readConfig, writeConfig } from "../../../src/base/config/load";
import { testConfig } from "../../support/app";

test("settings reach another process as they are", () => {
  const config = testConfig({
    ALLCLEAR_OUTBOUND_ALLOW: "10.0.0.0/8,192.168.1.20",
    ALLCLEAR_TRUSTED_PROXIES: "::1/128",
    ALLCLEAR_IDENTITY_PROXY: "10.0.0.5,172.18.0.0/16",
    ALLCLEAR_IDENTITY_PROXY_SECRET: "secret-of-the-proxy",
    ALLCLEAR_DOCKER_HOSTS: "local=unix:///run/docker.sock,nas=tcp://10.0.0.5:2376",
    ALLCLEAR_SMTP_HOST: "smtp.example.com",
    ALLCLEAR_MAIL_FROM: "Acme <status@example.com>",
    ALLCLEAR_SMTP_USER: "ada",
    ALLCLEAR_SMTP_PASSWORD: "secret",
  });
  expect(readConfig(writeConfig(config))).toEqual(config);
});

test("settings that are left out stay so in another process", () => {
  const config = testConfig();
  expect(readConfig(writeConfig(config))).toEqual(config);
});
