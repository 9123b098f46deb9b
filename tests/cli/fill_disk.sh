# For a command that `dmprof run -o x.dmprof` records: . fill_disk.sh; wait
# Starts an engine and, once its recording has grown, lets the recorder ($PPID) write no further: to it that is a full disk,
# and neither the superuser nor a disk of its own is needed. Not before: the rings are larger than what is left then.
dm-minimal 800000 &
for attempt in $(seq 1200); do
  [ "$(stat -c %s x.dmprof-wal 2>/dev/null || echo 0)" -gt 200000 ] && break
  sleep 0.05
done
prlimit --pid $PPID --fsize=200000:
