-- Takes over ranges whose lease has run out or was surrendered, lowest first.
-- Answers a row with `answer` for each, then its messages under its new token.
--
-- Leases that another takeover or a settle is busy with are left to it (SKIP
-- LOCKED). `now()` is the start of the transaction: a wait can only make a
-- lease look unexpired. The end of the new one is counted from the clock.
CREATE FUNCTION {schema}.reclaim_{stream}(
  group_id bigint, version integer, wanted bigint, max_reclaims integer,
  lease interval, taken_by text)
RETURNS SETOF {schema}.delivered
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog SET plan_cache_mode = 'force_custom_plan'
SET enable_seqscan = off SET jit = off AS $fn$
#variable_conflict use_variable
DECLARE
  done_up_to bigint;
  paused boolean;
  old {schema}.claim_lease_{stream};
  surrendered boolean;
  new_token uuid;
  made bigint;
  quarantined boolean := false;
BEGIN
  SELECT c.committed, g.paused INTO done_up_to, paused
  FROM {schema}.consumer_group_cursor_{stream} AS c
  JOIN {schema}.consumer_group_config AS g ON g.id = c.consumer_group_id
  WHERE c.consumer_group_id = group_id;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the group has no cursor' USING ERRCODE = 'SQ002';
  END IF;
  IF paused THEN RETURN; END IF;

  FOR old IN
    SELECT l.* FROM {schema}.claim_lease_{stream} AS l
    WHERE l.consumer_group_id = group_id AND l.low >= done_up_to
      AND l.expires_at <= now()
    ORDER BY l.low LIMIT wanted FOR UPDATE SKIP LOCKED
  LOOP
    surrendered := old.expires_at = '-infinity';
    INSERT INTO {schema}.taken_over_{stream} (token, low)
    VALUES (old.token, old.low);
    IF old.reclaims >= max_reclaims AND NOT surrendered THEN
      made := {schema}.quarantine_{stream}(group_id, version, old.low,
                                           old.high);
      DELETE FROM {schema}.claim_lease_{stream} AS l
      WHERE l.consumer_group_id = group_id AND l.token = old.token;
      quarantined := true;
      RETURN QUERY SELECT jsonb_build_object(
          'low', old.low, 'high', old.high, 'holder', old.holder,
          'quarantined', made),
        NULL::uuid, NULL::bigint, NULL::integer, NULL::text, NULL::text,
        NULL::text, NULL::bytea, NULL::text, NULL::text, NULL::text,
        NULL::bigint;
    ELSE
      new_token := gen_random_uuid();
      UPDATE {schema}.claim_lease_{stream} AS l
      SET token = new_token, holder = taken_by,
          expires_at = clock_timestamp() + lease,
          reclaims = CASE WHEN surrendered THEN l.reclaims
                          ELSE least(l.reclaims, 2147483646) + 1 END
      WHERE l.consumer_group_id = group_id AND l.token = old.token;
      RETURN QUERY SELECT jsonb_build_object(
          'low', old.low, 'high', old.high, 'holder', old.holder,
          'token', new_token, 'surrendered', surrendered,
          'reclaims', CASE WHEN surrendered THEN old.reclaims
                           ELSE least(old.reclaims, 2147483646) + 1 END),
        NULL::uuid, NULL::bigint, NULL::integer, NULL::text, NULL::text,
        NULL::text, NULL::bytea, NULL::text, NULL::text, NULL::text,
        NULL::bigint;
      RETURN QUERY SELECT * FROM {schema}.range_messages_{stream}(
        group_id, version, old.low, old.high, new_token);
    END IF;
  END LOOP;
  IF old.token IS NOT NULL OR quarantined THEN
    DELETE FROM {schema}.taken_over_{stream} AS t
    WHERE t.at < now() - interval '1 day';
  END IF;
  -- A range with nothing for this group left in it holds the cursor no more.
  IF quarantined THEN PERFORM {schema}.advance_{stream}(group_id); END IF;
END $fn$;

-- Makes exceptions of a range's messages: those that a claim would select, with
-- the concurrency that applies to them; earlier rows keep their counters.
CREATE FUNCTION {schema}.quarantine_{stream}(
  group_id bigint, version integer, low bigint, high bigint)
RETURNS bigint
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog SET plan_cache_mode = 'force_custom_plan'
SET enable_seqscan = off SET jit = off AS $fn$
#variable_conflict use_variable
DECLARE
  config jsonb := (SELECT g.config FROM {schema}.consumer_group_config AS g
                   WHERE g.id = group_id);
  made bigint;
BEGIN
  INSERT INTO {schema}.exception_queue_{stream}
         (consumer_group_id, message_id, status, message_key, concurrency,
          attempts, delays, can_run_after)
  SELECT group_id, m.id, 'ready', m.message_key,
         coalesce(config ->> 'concurrency_override',
                  m.options::jsonb ->> 'concurrency',
                  config #>> '{message,concurrency}', 'parallel'),
         0, 0, now()
  FROM {schema}.range_messages_{stream}(group_id, version, low, high, NULL) AS m
  ON CONFLICT (consumer_group_id, message_id) DO NOTHING;
  GET DIAGNOSTICS made = ROW_COUNT;
  RETURN made;
END $fn$;

-- Writes what became of ranges and of exceptions. The arguments are arrays of
-- objects or null: `ranges` {token, resolved_to, surrender}, `entries` (first
-- runs) {token, id, key, policy, <change>}, `successes` {token, id}, `runs`
-- (later runs) {token, id, <change>}; <change> being {keeps, status, attempts,
-- delays, after (microseconds), history, attempt, error}.
--
-- Each part is guarded by its token: a stale holder finds no row and changes
-- nothing. Leases come before exceptions and these before the cursor, which
-- advance_N locks: one order, no deadlock.
--
-- `in_doubt` repeats a call whose reply was lost, and which may have landed.
-- Tokens are never used twice, and one leaves its row in three ways: its holder
-- settles it, a takeover replaces it, which leaves a trace in taken_over_N, or
-- the group is removed. So where the token and its trace are both missing the
-- first call has landed; where the lease stands at or above `resolved_to`
-- likewise. Should the first call still be running, its row locks make this one
-- wait; should it only start after this one, it finds nothing to do.
CREATE FUNCTION {schema}.settle_{stream}(
  group_id bigint, in_doubt boolean, history_mode text, ranges jsonb,
  entries jsonb, successes jsonb, runs jsonb)
RETURNS jsonb
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog SET plan_cache_mode = 'force_custom_plan'
SET enable_seqscan = off SET jit = off AS $fn$
#variable_conflict use_variable
DECLARE
  settled uuid[] := '{}';
  ended bigint[] := '{}';
  part bigint[];
  lost_ranges jsonb := '[]';
  lost_runs jsonb := '[]';
BEGIN
  PERFORM {schema}.require_read_committed();
  -- Where all went well there is nothing but the cursor and leases to write, as
  -- with a claim: should a crash of the server undo it, the leases are back and
  -- their messages come again. Nothing is lost by not waiting for the disk, and
  -- a wait would stop the group's claims, which want the cursor that advance_N
  -- has locked. Whoever records a failure waits.
  IF entries IS NULL AND runs IS NULL AND successes IS NULL THEN
    PERFORM set_config('synchronous_commit', 'off', true);
  END IF;
  IF ranges IS NOT NULL THEN
    WITH wanted AS MATERIALIZED (
      SELECT w.token, w.resolved_to, w.surrender
      FROM jsonb_to_recordset(ranges)
        AS w (token uuid, resolved_to bigint, surrender boolean)
    ), gone AS (
      DELETE FROM {schema}.claim_lease_{stream} AS l USING wanted AS w
      WHERE l.consumer_group_id = group_id AND l.token = w.token
        AND w.resolved_to >= l.high
      RETURNING l.token
    ), narrowed AS (
      UPDATE {schema}.claim_lease_{stream} AS l
      SET low = w.resolved_to,
          reclaims = CASE WHEN w.resolved_to > l.low THEN 0
                          ELSE l.reclaims END,
          expires_at = CASE WHEN w.surrender THEN '-infinity'
                            ELSE l.expires_at END
      FROM wanted AS w
      WHERE l.consumer_group_id = group_id AND l.token = w.token
        AND w.resolved_to < l.high AND w.resolved_to >= l.low
        AND l.expires_at > '-infinity'
        AND (w.resolved_to > l.low OR w.surrender)
      RETURNING l.token
    )
    SELECT coalesce(array_agg(t.token), '{}') INTO settled
    FROM (SELECT g.token FROM gone AS g
          UNION ALL SELECT n.token FROM narrowed AS n) AS t;
    SELECT coalesce(jsonb_agg(w.token), '[]') INTO lost_ranges
    FROM jsonb_to_recordset(ranges) AS w (token uuid, resolved_to bigint)
    WHERE w.token <> ALL (settled)
      AND (NOT in_doubt OR EXISTS (
             SELECT FROM {schema}.taken_over_{stream} AS t
             WHERE t.token = w.token AND t.message_id = 0
               AND t.low < w.resolved_to));
  END IF;

  IF entries IS NOT NULL AND cardinality(settled) > 0 THEN
    -- A row may be left of before the cursor was moved back: the new outcome
    -- counts, unless that row runs just now.
    INSERT INTO {schema}.exception_queue_{stream} AS q
           (consumer_group_id, message_id, status, message_key, concurrency,
            attempts, delays, can_run_after, last_error)
    SELECT group_id, e.id, e.status, nullif(e.key, ''), e.policy, e.attempts,
           e.delays, {schema}.later(e.after), e.error
    FROM jsonb_to_recordset(entries)
      AS e (token uuid, id bigint, key text, policy text, keeps boolean,
            status text, attempts bigint, delays bigint, after bigint,
            error text)
    WHERE e.token = ANY (settled) AND e.keeps
    ON CONFLICT (consumer_group_id, message_id) DO UPDATE
       SET status = excluded.status, attempts = excluded.attempts,
           delays = excluded.delays, can_run_after = excluded.can_run_after,
           last_error = excluded.last_error, updated_at = now()
       WHERE q.status <> 'inflight';
    IF history_mode <> 'off' THEN
      INSERT INTO {schema}.delivery_log_{stream}
             (consumer_group_id, message_id, attempt, status, error)
      SELECT group_id, e.id, e.attempt, e.history, e.error
      FROM jsonb_to_recordset(entries)
        AS e (token uuid, id bigint, history text, attempt bigint, error text)
      WHERE e.token = ANY (settled)
        AND (history_mode = 'all' OR e.history <> 'success');
    END IF;
  END IF;
  IF successes IS NOT NULL AND history_mode = 'all' THEN
    INSERT INTO {schema}.delivery_log_{stream}
           (consumer_group_id, message_id, attempt, status)
    SELECT group_id, s.id, 0, 'success'
    FROM jsonb_to_recordset(successes) AS s (token uuid, id bigint)
    WHERE s.token = ANY (settled);
  END IF;

  IF runs IS NOT NULL THEN
    WITH gone AS (
      DELETE FROM {schema}.exception_queue_{stream} AS q
      USING jsonb_to_recordset(runs)
        AS r (token uuid, id bigint, keeps boolean)
      WHERE q.consumer_group_id = group_id AND q.message_id = r.id
        AND q.lease_token = r.token AND q.status = 'inflight' AND NOT r.keeps
      RETURNING q.message_id
    ), kept AS (
      UPDATE {schema}.exception_queue_{stream} AS q
      SET status = r.status, attempts = r.attempts, delays = r.delays,
          can_run_after = {schema}.later(r.after), last_error = r.error,
          lease_token = NULL, lease_expires_at = NULL, holder = NULL,
          updated_at = now()
      FROM jsonb_to_recordset(runs)
        AS r (token uuid, id bigint, keeps boolean, status text,
              attempts bigint, delays bigint, after bigint, error text)
      WHERE q.consumer_group_id = group_id AND q.message_id = r.id
        AND q.lease_token = r.token AND q.status = 'inflight' AND r.keeps
      RETURNING q.message_id
    )
    SELECT coalesce(array_agg(t.message_id), '{}') INTO ended
    FROM (SELECT g.message_id FROM gone AS g
          UNION ALL SELECT k.message_id FROM kept AS k) AS t;
    SELECT coalesce(jsonb_agg(r.id), '[]') INTO lost_runs
    FROM jsonb_to_recordset(runs) AS r (token uuid, id bigint)
    WHERE r.id <> ALL (ended)
      AND (NOT in_doubt OR EXISTS (
             SELECT FROM {schema}.taken_over_{stream} AS t
             WHERE t.token = r.token AND t.message_id = r.id));
    IF history_mode <> 'off' AND cardinality(ended) > 0 THEN
      INSERT INTO {schema}.delivery_log_{stream}
             (consumer_group_id, message_id, attempt, status, error)
      SELECT group_id, r.id, r.attempt, r.history, r.error
      FROM jsonb_to_recordset(runs)
        AS r (id bigint, history text, attempt bigint, error text)
      WHERE r.id = ANY (ended)
        AND (history_mode = 'all' OR r.history <> 'success');
    END IF;
  END IF;

  RETURN jsonb_build_object(
    'lost_ranges', lost_ranges, 'lost_runs', lost_runs,
    'committed', {schema}.advance_{stream}(group_id));
END $fn$;
