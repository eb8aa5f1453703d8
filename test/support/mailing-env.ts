/** Returns the variables of an installation that sends mail to a relay on a port of loopback. */
export function mailingEnv(dataDir: string, port: string): Record<string, string> {
  return {
    ALLCLEAR_DATA_DIR: dataDir,
    ALLCLEAR_LOG_LEVEL: "silent",
    ALLCLEAR_BASE_URL: "https://status.example.com",
    ALLCLEAR_SMTP_HOST: "127.0.0.1",
    ALLCLEAR_SMTP_PORT: port,
    ALLCLEAR_SMTP_TLS: "none",
    ALLCLEAR_SMTP_RATE: "0",
    ALLCLEAR_MAIL_FROM: "status@example.com",
  };
}
