-- Format 2. A figure of a capacity that nobody stated or measured is NULL, where format 1 wrote 0. New kind of chunk: aggregate_sample.

CREATE TABLE capacity_2 (
  id INTEGER PRIMARY KEY,
  process INTEGER NOT NULL,
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  rank INTEGER NOT NULL,
  managed INTEGER NOT NULL,
  size_bytes INTEGER,
  datasheet_bandwidth REAL,
  measured_bandwidth REAL,
  peak_flops REAL,
  units INTEGER
);
INSERT INTO capacity_2
  SELECT id, process, name, kind, rank, managed, nullif(size_bytes, 0), nullif(datasheet_bandwidth, 0),
         nullif(measured_bandwidth, 0), nullif(peak_flops, 0), nullif(units, 0)
  FROM capacity;
DROP TABLE capacity;
ALTER TABLE capacity_2 RENAME TO capacity;
