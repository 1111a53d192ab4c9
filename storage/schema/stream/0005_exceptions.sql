-- Claims due exceptions, oldest first. Answers a row with `answer` (attempts,
-- delays) followed by the message, for each.
--
-- Rows that another claim is busy with are left to it (SKIP LOCKED); a row over
-- a lowered budget is left to kill_N. An expired run was an attempt: it is
-- counted and written down in the statement that takes the row over.
CREATE FUNCTION {schema}.claim_exceptions_{stream}(
  group_id bigint, version integer, wanted bigint, lease interval,
  claimed_by text, history_mode text, max_retries integer,
  retries_minimum integer, retries_maximum integer)
RETURNS SETOF {schema}.delivered
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog SET plan_cache_mode = 'force_custom_plan'
SET enable_seqscan = off SET jit = off AS $fn$
#variable_conflict use_variable
DECLARE
  due record;
  paused boolean;
  new_token uuid := gen_random_uuid();
BEGIN
  SELECT g.paused INTO paused
  FROM {schema}.consumer_group_cursor_{stream} AS c
  JOIN {schema}.consumer_group_config AS g ON g.id = c.consumer_group_id
  WHERE c.consumer_group_id = group_id;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the group has no cursor' USING ERRCODE = 'SQ002';
  END IF;
  IF paused THEN RETURN; END IF;
  FOR due IN
    SELECT q.message_id, q.status, q.attempts, q.delays, q.lease_token,
           q.holder, m.schema_version, m.routing_key, m.message_key,
           m.payload, m.payload_bytes, m.content_type, m.headers, m.options,
           m.created_at
    FROM {schema}.exception_queue_{stream} AS q
    JOIN {schema}.message_log_{stream} AS m ON m.id = q.message_id
    CROSS JOIN LATERAL {schema}.retries_allowed(
      m.options, max_retries, retries_minimum, retries_maximum)
      AS budget (allowed)
    WHERE q.consumer_group_id = group_id AND q.status <> 'dead'
      AND m.schema_version = version
      AND ((q.status IN ('ready', 'deferred') AND q.can_run_after <= now()
            AND q.attempts - q.delays <= budget.allowed)
        OR (q.status = 'inflight' AND q.lease_expires_at <= now()
            AND q.attempts - q.delays < budget.allowed))
    ORDER BY q.message_id LIMIT wanted
    FOR UPDATE OF q SKIP LOCKED
  LOOP
    IF due.status = 'inflight' THEN
      INSERT INTO {schema}.taken_over_{stream} (token, message_id)
      VALUES (due.lease_token, due.message_id) ON CONFLICT DO NOTHING;
      IF history_mode <> 'off' THEN
        INSERT INTO {schema}.delivery_log_{stream}
               (consumer_group_id, message_id, attempt, status, error)
        VALUES (group_id, due.message_id, due.attempts, 'expired',
                'its holder ' || coalesce(due.holder, '')
                || ' did not report within the lease');
      END IF;
      due.attempts := due.attempts + 1;
    END IF;
    UPDATE {schema}.exception_queue_{stream} AS q
    SET status = 'inflight', attempts = due.attempts, lease_token = new_token,
        lease_expires_at = clock_timestamp() + lease, holder = claimed_by,
        updated_at = now()
    WHERE q.consumer_group_id = group_id AND q.message_id = due.message_id;
    RETURN QUERY SELECT
      jsonb_build_object('attempts', due.attempts, 'delays', due.delays),
      new_token, due.message_id, due.schema_version, due.routing_key,
      due.message_key, due.payload::text, due.payload_bytes, due.content_type,
      due.headers::text, due.options::text,
      (date_part('epoch', due.created_at) * 1000000)::bigint;
  END LOOP;
END $fn$;

-- Marks dead what must not run again: expired runs at their budget, and waiting
-- rows over a budget that was lowered. Returns the ids, ascending.
CREATE FUNCTION {schema}.kill_{stream}(
  group_id bigint, wanted bigint, history_mode text, max_retries integer,
  retries_minimum integer, retries_maximum integer)
RETURNS SETOF bigint
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog SET plan_cache_mode = 'force_custom_plan'
SET enable_seqscan = off SET jit = off AS $fn$
#variable_conflict use_variable
DECLARE
  spent record;
  killed boolean := false;
  reason text;
BEGIN
  IF NOT EXISTS (SELECT FROM {schema}.consumer_group_cursor_{stream} AS c
                 WHERE c.consumer_group_id = group_id) THEN
    RAISE EXCEPTION 'the group has no cursor' USING ERRCODE = 'SQ002';
  END IF;
  FOR spent IN
    SELECT q.message_id, q.status, q.attempts, q.last_error, q.lease_token,
           q.holder
    FROM {schema}.exception_queue_{stream} AS q
    LEFT JOIN {schema}.message_log_{stream} AS m ON m.id = q.message_id
    CROSS JOIN LATERAL {schema}.retries_allowed(
      m.options, max_retries, retries_minimum, retries_maximum)
      AS budget (allowed)
    WHERE q.consumer_group_id = group_id AND q.status <> 'dead'
      AND ((q.status IN ('ready', 'deferred')
            AND q.attempts - q.delays > budget.allowed)
        OR (q.status = 'inflight' AND q.lease_expires_at <= now()
            AND q.attempts - q.delays >= budget.allowed))
    ORDER BY q.message_id LIMIT wanted
    FOR UPDATE OF q SKIP LOCKED
  LOOP
    killed := true;
    reason := CASE WHEN spent.status = 'inflight'
      THEN 'its holder ' || coalesce(spent.holder, '')
           || ' did not report within the lease, and no retry is left'
      ELSE 'it has failed more often than the budget allows now' END;
    IF spent.status = 'inflight' THEN
      INSERT INTO {schema}.taken_over_{stream} (token, message_id)
      VALUES (spent.lease_token, spent.message_id) ON CONFLICT DO NOTHING;
    END IF;
    UPDATE {schema}.exception_queue_{stream} AS q
    SET status = 'dead', lease_token = NULL, lease_expires_at = NULL,
        holder = NULL, updated_at = now(),
        last_error = left(q.last_error, 8000)
          || CASE WHEN q.last_error = '' THEN '' ELSE E'\n' END || reason
    WHERE q.consumer_group_id = group_id AND q.message_id = spent.message_id;
    IF history_mode <> 'off' THEN
      INSERT INTO {schema}.delivery_log_{stream}
             (consumer_group_id, message_id, attempt, status, error)
      VALUES (group_id, spent.message_id, spent.attempts, 'killed', reason);
    END IF;
    RETURN NEXT spent.message_id;
  END LOOP;
  IF killed THEN PERFORM {schema}.advance_{stream}(group_id); END IF;
END $fn$;

-- Where a group stands; see group_lag in storage/settlement.hpp.
CREATE FUNCTION {schema}.lag_{stream}(
  group_id bigint, OUT head bigint, OUT claimed bigint, OUT committed bigint,
  OUT backlog bigint, OUT backlog_estimated boolean, OUT ready bigint,
  OUT inflight bigint, OUT deferred bigint, OUT dead bigint,
  OUT open_leases bigint)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog SET plan_cache_mode = 'force_custom_plan'
SET jit = off AS $fn$
#variable_conflict use_column
BEGIN
  SELECT c.claimed, c.committed INTO claimed, committed
  FROM {schema}.consumer_group_cursor_{stream} AS c
  WHERE c.consumer_group_id = group_id;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the group has no cursor' USING ERRCODE = 'SQ002';
  END IF;
  head := coalesce((SELECT m.id FROM {schema}.message_log_{stream} AS m
                    ORDER BY m.id DESC LIMIT 1), 0);
  backlog := (SELECT count(*) FROM (
    SELECT FROM {schema}.message_log_{stream} AS m
    WHERE m.id > lag_{stream}.committed LIMIT 10001) AS waiting);
  backlog_estimated := backlog > 10000;
  IF backlog_estimated THEN
    backlog := greatest(backlog, head - committed);
  END IF;
  SELECT count(*) FILTER (WHERE e.status = 'ready'),
         count(*) FILTER (WHERE e.status = 'inflight'),
         count(*) FILTER (WHERE e.status = 'deferred'),
         count(*) FILTER (WHERE e.status = 'dead')
  INTO ready, inflight, deferred, dead
  FROM {schema}.exception_queue_{stream} AS e
  WHERE e.consumer_group_id = group_id;
  open_leases := (SELECT count(*) FROM {schema}.claim_lease_{stream} AS l
                  WHERE l.consumer_group_id = group_id);
END $fn$;
