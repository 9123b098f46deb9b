-- Format 1. Migrations are append-only: this file never changes once a recording written with it exists; a change is 002_….sql.
-- What every table and byte means: dmprof/store/FORMAT.md.

CREATE TABLE run (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  started INTEGER NOT NULL,
  finished INTEGER,
  reason TEXT,
  dmprof_version TEXT NOT NULL,
  recorder_pid INTEGER NOT NULL,
  recorder_start INTEGER NOT NULL
);
CREATE TABLE environment (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE name (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE process (
  id INTEGER PRIMARY KEY,
  pid INTEGER NOT NULL,
  parent_pid INTEGER NOT NULL,
  name TEXT NOT NULL,
  command TEXT NOT NULL
);
CREATE TABLE clock (id INTEGER PRIMARY KEY, name TEXT NOT NULL, kind TEXT NOT NULL, quality TEXT NOT NULL);
CREATE TABLE clock_sync (
  clock INTEGER NOT NULL,
  domain_time INTEGER NOT NULL,
  monotonic INTEGER NOT NULL,
  realtime INTEGER NOT NULL,
  uncertainty INTEGER NOT NULL
);
CREATE TABLE track (
  id INTEGER PRIMARY KEY,
  process INTEGER NOT NULL,
  thread_id INTEGER NOT NULL,
  clock INTEGER NOT NULL,
  name TEXT NOT NULL
);
CREATE TABLE capacity (
  id INTEGER PRIMARY KEY,
  process INTEGER NOT NULL,
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  rank INTEGER NOT NULL,
  managed INTEGER NOT NULL,
  size_bytes INTEGER NOT NULL,
  datasheet_bandwidth REAL NOT NULL,
  measured_bandwidth REAL NOT NULL,
  peak_flops REAL NOT NULL,
  units INTEGER NOT NULL
);
CREATE TABLE knob (
  process INTEGER NOT NULL,
  name TEXT NOT NULL,
  since INTEGER NOT NULL,
  value TEXT NOT NULL,
  type TEXT NOT NULL,
  range TEXT NOT NULL,
  how TEXT NOT NULL,
  handle TEXT NOT NULL,
  unit TEXT NOT NULL,
  PRIMARY KEY (process, name, since)
) WITHOUT ROWID;

CREATE TABLE loss (
  track INTEGER NOT NULL,
  cause TEXT NOT NULL,
  events INTEGER NOT NULL,
  PRIMARY KEY (track, cause)
) WITHOUT ROWID;
CREATE TABLE emitted (track INTEGER PRIMARY KEY, events INTEGER NOT NULL);

CREATE TABLE event_type (kind INTEGER PRIMARY KEY, name TEXT NOT NULL, doc TEXT NOT NULL);
CREATE TABLE event_column (
  kind INTEGER NOT NULL,
  position INTEGER NOT NULL,
  name TEXT NOT NULL,
  coding TEXT NOT NULL,
  doc TEXT NOT NULL,
  PRIMARY KEY (kind, position)
) WITHOUT ROWID;

CREATE TABLE chunk (
  id INTEGER PRIMARY KEY,
  kind INTEGER NOT NULL,
  rows INTEGER NOT NULL,
  min_time INTEGER NOT NULL,
  max_time INTEGER NOT NULL,
  columns BLOB NOT NULL
);
CREATE INDEX chunk_by_time ON chunk (kind, min_time, max_time, rows);
CREATE TABLE column_data (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE chunk_name (
  chunk INTEGER NOT NULL,
  name INTEGER NOT NULL,
  events INTEGER NOT NULL,
  duration INTEGER NOT NULL,
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  PRIMARY KEY (chunk, name)
) WITHOUT ROWID;
CREATE TABLE chunk_track (
  chunk INTEGER NOT NULL,
  track INTEGER NOT NULL,
  events INTEGER NOT NULL,
  PRIMARY KEY (chunk, track)
) WITHOUT ROWID;

CREATE TABLE metric (
  name TEXT PRIMARY KEY,
  definition TEXT NOT NULL,
  json TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE finding (
  id INTEGER PRIMARY KEY,
  rule TEXT NOT NULL,
  severity TEXT NOT NULL,
  json TEXT NOT NULL
);

-- recorded = emitted - lost on a sound recording: unaccounted is 0, or NULL where the emitter never reported.
CREATE VIEW balance AS
  WITH known (track) AS (
    SELECT track FROM emitted UNION SELECT track FROM loss UNION SELECT track FROM chunk_track
  ), lost (track, events) AS (
    SELECT track, sum(events) FROM loss GROUP BY track
  ), stored (track, events) AS (
    SELECT track, sum(events) FROM chunk_track GROUP BY track
  )
  SELECT known.track AS track,
         emitted.events AS emitted,
         coalesce(lost.events, 0) AS lost,
         coalesce(stored.events, 0) AS recorded,
         emitted.events - coalesce(lost.events, 0) - coalesce(stored.events, 0) AS unaccounted
  FROM known
  LEFT JOIN emitted ON emitted.track = known.track
  LEFT JOIN lost ON lost.track = known.track
  LEFT JOIN stored ON stored.track = known.track;
