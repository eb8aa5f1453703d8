-- Alerts that other programs report to monitors of the type alert. Times are unix milliseconds in UTC.

-- Alerts that were reported as firing and not as ended. One sender never ends the alert of another.
CREATE TABLE open_alerts (
  monitor_num INTEGER NOT NULL REFERENCES monitors (num) ON DELETE CASCADE,
  -- Id of the API key that reported it, or of the monitor for its own token.
  sender TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  -- A JSON object of texts, at most 4 KB.
  labels TEXT NOT NULL,
  -- State that it gives the monitor; none since a change of the matchers that it no longer fulfils.
  level TEXT NOT NULL CHECK (level IN ('down', 'degraded', 'none')),
  started_at INTEGER NOT NULL,
  -- Last report, exact to a minute.
  last_seen_at INTEGER NOT NULL,
  title TEXT NOT NULL,
  PRIMARY KEY (monitor_num, sender, fingerprint)
) STRICT;

-- Judging a monitor reads the index alone, however many alerts are open.
CREATE INDEX open_alerts_by_level ON open_alerts (monitor_num, level, started_at, last_seen_at);
CREATE INDEX open_alerts_by_sender ON open_alerts (sender, fingerprint);

-- The last alerts that fulfilled the matchers of no monitor, and tests, a limited number.
CREATE TABLE unmatched_alerts (
  sender TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  format TEXT NOT NULL CHECK (format IN ('alertmanager', 'grafana', 'json')),
  labels TEXT NOT NULL,
  title TEXT NOT NULL,
  is_test INTEGER NOT NULL DEFAULT 0 CHECK (is_test IN (0, 1)),
  -- Last report, exact to an hour.
  seen_at INTEGER NOT NULL,
  PRIMARY KEY (sender, fingerprint)
) STRICT;

CREATE INDEX unmatched_alerts_by_time ON unmatched_alerts (seen_at);
