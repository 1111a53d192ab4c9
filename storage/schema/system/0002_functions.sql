-- Functions that serve all streams.

-- The claim's proof (which is for others to read in bound_N) needs statements
-- with a snapshot each. In a stricter isolation level all share one, and the
-- proof would be worthless: refuse. The library then begins the transaction
-- itself, with the right level.
CREATE FUNCTION {schema}.require_read_committed() RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog AS $fn$
BEGIN
  IF current_setting('transaction_isolation') NOT IN
       ('read committed', 'read uncommitted') THEN
    RAISE EXCEPTION 'this needs the isolation level read committed'
      USING ERRCODE = 'SQ001';
  END IF;
END $fn$;

CREATE FUNCTION {schema}.stream_id(name text) RETURNS integer
LANGUAGE sql STABLE SET search_path = pg_catalog AS $fn$
  SELECT s.id FROM {schema}.stream_config AS s WHERE s.name = $1
$fn$;

-- Who holds the producer lock of a stream: the names of their virtual
-- transactions, and their backends (none for a prepared transaction).
CREATE FUNCTION {schema}.producer_holders(stream integer)
RETURNS TABLE (holder text, pid integer)
LANGUAGE sql VOLATILE SET search_path = pg_catalog AS $fn$
  SELECT l.virtualtransaction, l.pid
  FROM pg_locks AS l
  WHERE l.locktype = 'advisory'
    AND l.database = (SELECT d.oid FROM pg_database AS d
                      WHERE d.datname = current_database())
    AND l.classid::bigint = {lock_class}
    AND l.objid::bigint = $1
    AND l.objsubid = 2
    AND l.granted
$fn$;

-- Which of the holders that a proof waits for are still there.
--
-- A transaction may change its name when it is prepared or when the server
-- restarts afterwards. So as long as a holder is missing that was not known to
-- be prepared, every prepared one might be it. Each of those is waited for by
-- name from then on, hence the set shrinks and the wait ends with them.
CREATE FUNCTION {schema}.still_holding(stream integer, awaited text[])
RETURNS text[]
LANGUAGE sql VOLATILE SET search_path = pg_catalog AS $fn$
  WITH now_holding AS MATERIALIZED (
    SELECT h.holder, h.pid FROM {schema}.producer_holders($1) AS h
  ), renamed AS (
    SELECT EXISTS (
      SELECT FROM unnest($2) AS old (holder)
      WHERE old.holder NOT LIKE '-1/%'
        AND old.holder NOT IN (SELECT n.holder FROM now_holding AS n))
      AS possible
  )
  SELECT coalesce(array_agg(n.holder ORDER BY n.holder), '{}')
  FROM now_holding AS n, renamed AS r
  WHERE n.holder = ANY ($2) OR (n.pid IS NULL AND r.possible)
$fn$;

-- Who keeps a gap open, for people: the oldest of the awaited holders. Other
-- roles' transaction times are hidden from ordinary users; then `seen`, when
-- the gap was first met, stands in for the age.
CREATE FUNCTION {schema}.claim_hold(stream integer, missing bigint,
                                    awaited text[], seen timestamptz)
RETURNS jsonb
LANGUAGE sql VOLATILE SET search_path = pg_catalog AS $fn$
  SELECT jsonb_build_object(
    'missing', $2,
    'pid', coalesce(h.pid, 0),
    'application', coalesce(a.application_name, ''),
    'age_us', (greatest(0, date_part('epoch',
       clock_timestamp() - coalesce(a.xact_start, p.prepared, $4,
                                    clock_timestamp()))) * 1000000)::bigint)
  FROM {schema}.producer_holders($1) AS h
  LEFT JOIN pg_stat_activity AS a ON a.pid = h.pid
  LEFT JOIN (SELECT min(x.prepared) AS prepared FROM pg_prepared_xacts AS x
             WHERE x.database = current_database()) AS p ON h.pid IS NULL
  WHERE h.holder = ANY ($3)
  ORDER BY coalesce(a.xact_start, p.prepared) NULLS LAST
  LIMIT 1
$fn$;

-- The budget of a message: its own number of retries, else the group's, then
-- the group's bounds (zero: none). A number that is none counts as unset.
CREATE FUNCTION {schema}.retries_allowed(options jsonb, fallback integer,
                                         minimum integer, maximum integer)
RETURNS numeric
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog AS $fn$
DECLARE
  allowed numeric := fallback;
BEGIN
  IF jsonb_typeof(options #> '{retry,max_retries}') = 'number'
     AND (options #>> '{retry,max_retries}')::numeric > 0 THEN
    allowed := (options #>> '{retry,max_retries}')::numeric;
  END IF;
  IF minimum > 0 THEN allowed := greatest(allowed, minimum); END IF;
  IF maximum > 0 THEN allowed := least(allowed, maximum); END IF;
  RETURN allowed;
END $fn$;

-- Makes the partition of a stream for the ids around `id`, unless it is there.
-- Returns whether it made one.
--
-- Runs with its owner's rights, so that producers need none of their own. The
-- new table gets a CHECK that implies its bounds before it is attached: then
-- ATTACH neither scans nor blocks producers. Two at once: the second waits for
-- the first's transaction and then finds the partition. The wait is bounded,
-- because that transaction may be an application's that stays open.
--
-- Whoever may use the schema may call this, and so must not be able to fill it:
-- no partition is made beyond the one after that of the last id drawn, which is
-- the farthest that producers prepare.
CREATE FUNCTION {schema}.ensure_partition(stream integer, id bigint)
RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s'
SET client_min_messages = 'warning' AS $fn$
DECLARE
  size bigint := (SELECT s.partition_size FROM {schema}.stream_config AS s
                  WHERE s.id = stream);
  number bigint;
  parent text := format('%I.%I', '{schema_text}', 'message_log_' || stream);
  child text;
  first_id bigint;
  last_id bigint;
  -- NULL before the first id is drawn.
  last_drawn bigint := coalesce(pg_sequence_last_value(to_regclass(
    format('%I.%I', '{schema_text}', 'message_log_' || stream || '_id_seq'))),
    1);
BEGIN
  IF size IS NULL THEN
    RAISE EXCEPTION 'no stream has the number %', stream
      USING ERRCODE = 'SQ003';
  END IF;
  number := (ensure_partition.id - 1) / size;
  IF ensure_partition.id < 1 OR number > (last_drawn - 1) / size + 1 THEN
    RAISE EXCEPTION 'id % is out of reach: the last id drawn is %',
      ensure_partition.id, last_drawn USING ERRCODE = '22023';
  END IF;
  child := format('%I.%I', '{schema_text}',
                  'message_log_' || stream || '_p' || number);
  IF to_regclass(child) IS NOT NULL THEN RETURN false; END IF;
  PERFORM pg_advisory_xact_lock({lock_class}, -stream);
  -- Not to_regclass(): it may answer from a cache that the wait has made stale.
  IF EXISTS (SELECT FROM pg_catalog.pg_tables AS t
             WHERE t.schemaname = '{schema_text}'
               AND t.tablename = 'message_log_' || stream || '_p' || number)
  THEN
    RETURN false;
  END IF;
  first_id := number * size + 1;
  -- The last partition ends with the last id there can be.
  last_id := first_id - 1 + least(size, 9223372036854775807 - first_id);
  EXECUTE format(
    'CREATE TABLE %s (LIKE %s INCLUDING DEFAULTS INCLUDING CONSTRAINTS '
    'INCLUDING STORAGE, CONSTRAINT id_range CHECK (id >= %s AND id <= %s))',
    child, parent, first_id, last_id);
  EXECUTE format('ALTER TABLE %s ATTACH PARTITION %s '
                 'FOR VALUES FROM (%s) TO (%s)',
                 parent, child, first_id, last_id + 1);
  EXECUTE format('ALTER TABLE %s DROP CONSTRAINT id_range', child);
  RETURN true;
EXCEPTION WHEN duplicate_table THEN
  -- The caller's snapshot is older than the partition (repeatable read).
  RETURN false;
END $fn$;

-- Makes the partitions for the ids from `first` to `last`; returns how many.
CREATE FUNCTION {schema}.ensure_partitions(stream integer, first bigint,
                                           last bigint)
RETURNS integer
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog AS $fn$
DECLARE
  size bigint := (SELECT s.partition_size FROM {schema}.stream_config AS s
                  WHERE s.id = stream);
  made integer := 0;
  number bigint;
BEGIN
  FOR number IN (first - 1) / size .. (last - 1) / size LOOP
    IF {schema}.ensure_partition(stream, number * size + 1) THEN
      made := made + 1;
    END IF;
  END LOOP;
  RETURN made;
END $fn$;

-- The first id that retention has left: the lower bound of the lowest
-- partition.
CREATE FUNCTION {schema}.first_retained(stream integer) RETURNS bigint
LANGUAGE sql STABLE SET search_path = pg_catalog AS $fn$
  SELECT coalesce(min(substring(c.relname FROM '_p([0-9]+)$')::bigint), 0)
         * s.partition_size + 1
  FROM {schema}.stream_config AS s
  LEFT JOIN pg_inherits AS i
    ON i.inhparent = to_regclass(format('%I.%I', '{schema_text}',
                                        'message_log_' || $1))
  LEFT JOIN pg_class AS c ON c.oid = i.inhrelid
  WHERE s.id = $1
  GROUP BY s.partition_size
$fn$;

-- Microseconds from now as an instant; one too far off for a timestamp is as
-- far off as they go.
CREATE FUNCTION {schema}.later(microseconds bigint) RETURNS timestamptz
LANGUAGE sql VOLATILE SET search_path = pg_catalog AS $fn$
  SELECT clock_timestamp()
         + make_interval(secs => greatest(0, coalesce($1, 0)) / 1000000.0)
$fn$;
