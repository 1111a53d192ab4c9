-- Producing in SQL: for triggers, psql and other languages.

-- SHA-1 (FIPS 180-4) of some bytes: the server has no function of its own, and
-- the name-based uuid below needs it. For short texts.
CREATE FUNCTION {schema}.sha1(given bytea) RETURNS bytea
LANGUAGE plpgsql IMMUTABLE STRICT SET search_path = pg_catalog AS $fn$
DECLARE
  mask CONSTANT bigint := 4294967295;
  h bigint[] := ARRAY[1732584193, 4023233417, 2562383102, 271733878,
                      3285377520];
  padded bytea;
  w bigint[];
  a bigint; b bigint; c bigint; d bigint; e bigint;
  f bigint; k bigint; t bigint;
BEGIN
  padded := given || '\x80'::bytea
    || decode(repeat('00', (119 - length(given) % 64) % 64), 'hex')
    || int8send(length(given)::bigint * 8);
  FOR block IN 0 .. length(padded) / 64 - 1 LOOP
    w := '{}';
    FOR i IN 0 .. 15 LOOP
      w[i] := (get_byte(padded, block * 64 + i * 4)::bigint << 24)
            | (get_byte(padded, block * 64 + i * 4 + 1) << 16)
            | (get_byte(padded, block * 64 + i * 4 + 2) << 8)
            | get_byte(padded, block * 64 + i * 4 + 3);
    END LOOP;
    FOR i IN 16 .. 79 LOOP
      t := w[i - 3] # w[i - 8] # w[i - 14] # w[i - 16];
      w[i] := ((t << 1) & mask) | (t >> 31);
    END LOOP;
    a := h[1]; b := h[2]; c := h[3]; d := h[4]; e := h[5];
    FOR i IN 0 .. 79 LOOP
      IF i < 20 THEN f := (b & c) | ((~b & mask) & d); k := 1518500249;
      ELSIF i < 40 THEN f := b # c # d; k := 1859775393;
      ELSIF i < 60 THEN f := (b & c) | (b & d) | (c & d); k := 2400959708;
      ELSE f := b # c # d; k := 3395469782;
      END IF;
      t := ((((a << 5) & mask) | (a >> 27)) + f + e + k + w[i]) & mask;
      e := d; d := c; c := ((b << 30) & mask) | (b >> 2); b := a; a := t;
    END LOOP;
    h := ARRAY[(h[1] + a) & mask, (h[2] + b) & mask, (h[3] + c) & mask,
               (h[4] + d) & mask, (h[5] + e) & mask];
  END LOOP;
  RETURN decode(lpad(to_hex(h[1]), 8, '0') || lpad(to_hex(h[2]), 8, '0')
    || lpad(to_hex(h[3]), 8, '0') || lpad(to_hex(h[4]), 8, '0')
    || lpad(to_hex(h[5]), 8, '0'), 'hex');
END $fn$;

-- A caller's idempotency key as uuid: a text that is one (8-4-4-4-12
-- hexadecimal digits) stands for itself, any other becomes a version 5 uuid
-- (RFC 4122) in
-- the namespace 6c1e9f0a-6d5b-5c7e-9a0e-3f1f5a0e7b21. The library does the
-- same.
CREATE FUNCTION {schema}.idempotency_uuid(key text) RETURNS uuid
LANGUAGE plpgsql IMMUTABLE STRICT SET search_path = pg_catalog AS $fn$
DECLARE
  hash bytea;
BEGIN
  IF key ~* '^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$' THEN
    RETURN key::uuid;
  END IF;
  hash := substring({schema}.sha1(
    '\x6c1e9f0a6d5b5c7e9a0e3f1f5a0e7b21'::bytea || convert_to(key, 'UTF8'))
    FROM 1 FOR 16);
  hash := set_byte(hash, 6, (get_byte(hash, 6) & 15) | 80);
  hash := set_byte(hash, 8, (get_byte(hash, 8) & 63) | 128);
  RETURN encode(hash, 'hex')::uuid;
END $fn$;

-- Produces one message in the caller's transaction and returns its id, or that
-- of the message that was produced with the same idempotency key before. Empty
-- texts mean "none". Keeps every rule of the library: lock before id, the same
-- refusals.
CREATE FUNCTION {schema}.produce(
  stream text, payload jsonb, routing_key text DEFAULT NULL,
  message_key text DEFAULT NULL, idempotency_key text DEFAULT NULL,
  headers jsonb DEFAULT NULL, options jsonb DEFAULT NULL,
  schema_version integer DEFAULT 1)
RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog AS $fn$
#variable_conflict use_variable
DECLARE
  target {schema}.stream_config;
  body text := payload::text;
  bytes bigint := octet_length(payload::text);
  allowed bigint;
  strange text;
  id bigint;
BEGIN
  SELECT s.* INTO target FROM {schema}.stream_config AS s
  WHERE s.name = stream;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'SQL0005 stream_not_found: no stream is named "%"', stream
      USING ERRCODE = 'SQ003', HINT = 'Register the stream first.';
  END IF;
  IF payload IS NULL THEN
    RAISE EXCEPTION 'SQL1003 payload_not_json: the payload is null'
      USING ERRCODE = 'SQ004', HINT = 'For JSON null write ''null''.';
  END IF;
  allowed := coalesce(
    nullif((target.config ->> 'max_payload_bytes')::bigint, 0), 16777216);
  IF bytes > allowed THEN
    RAISE EXCEPTION 'SQL1006 payload_too_large: % bytes, allowed are %',
      bytes, allowed USING ERRCODE = 'SQ004';
  END IF;
  IF schema_version IS NULL OR schema_version < 1 THEN
    RAISE EXCEPTION 'SQL1009 invalid_schema_version: %', schema_version
      USING ERRCODE = 'SQ004';
  END IF;
  IF octet_length(routing_key) > 1024 OR octet_length(message_key) > 1024 THEN
    RAISE EXCEPTION 'SQL1001 invalid_option: keys are at most 1024 bytes long'
      USING ERRCODE = 'SQ004';
  END IF;
  IF headers IS NOT NULL THEN
    IF jsonb_typeof(headers) <> 'object' THEN
      RAISE EXCEPTION 'SQL1013 invalid_header: headers are no JSON object'
        USING ERRCODE = 'SQ004';
    END IF;
    SELECT h.key INTO strange FROM jsonb_each(headers) AS h
    WHERE h.key = '' OR jsonb_typeof(h.value) <> 'string' LIMIT 1;
    IF FOUND THEN
      RAISE EXCEPTION 'SQL1013 invalid_header: "%" has no name or no text',
        strange USING ERRCODE = 'SQ004';
    END IF;
  END IF;
  IF options IS NOT NULL THEN
    IF jsonb_typeof(options) <> 'object' THEN
      RAISE EXCEPTION 'SQL1001 invalid_option: options are no JSON object'
        USING ERRCODE = 'SQ004';
    END IF;
    SELECT o.name INTO strange FROM (
      SELECT k FROM jsonb_object_keys(options) AS k
      WHERE k NOT IN ('concurrency', 'timeout', 'retry', 'scheduled_at')
      UNION ALL
      SELECT 'retry.' || k FROM jsonb_object_keys(
        CASE WHEN jsonb_typeof(options -> 'retry') = 'object'
             THEN options -> 'retry' ELSE '{}' END) AS k
      WHERE k NOT IN ('max_retries', 'max_delays', 'base_delay', 'max_delay',
                      'exponent')
      UNION ALL
      SELECT 'timeout' WHERE options ? 'timeout' AND NOT CASE
        WHEN jsonb_typeof(options -> 'timeout') = 'number'
        THEN (options ->> 'timeout')::numeric BETWEEN 0 AND 9223372036854775807
             AND (options ->> 'timeout')::numeric % 1 = 0 ELSE false END
      UNION ALL
      SELECT 'scheduled_at' WHERE options ? 'scheduled_at'
        AND jsonb_typeof(options -> 'scheduled_at') <> 'number'
      UNION ALL
      SELECT 'retry' WHERE options ? 'retry'
        AND jsonb_typeof(options -> 'retry') <> 'object'
      UNION ALL
      SELECT 'retry.' || r.key FROM jsonb_each(
        CASE WHEN jsonb_typeof(options -> 'retry') = 'object'
             THEN options -> 'retry' ELSE '{}' END) AS r
      WHERE NOT CASE WHEN jsonb_typeof(r.value) = 'number'
        THEN (r.value #>> '{}')::numeric >= 0
             AND (r.value #>> '{}')::numeric % 1 = 0 ELSE false END
      UNION ALL
      SELECT 'concurrency' WHERE options ? 'concurrency'
        AND coalesce(options ->> 'concurrency', '')
            NOT IN ('parallel', 'exclusive', 'ordered')
    ) AS o (name) LIMIT 1;
    IF FOUND THEN
      RAISE EXCEPTION 'SQL1001 invalid_option: "%" is unknown or wrong',
        strange USING ERRCODE = 'SQ004';
    END IF;
    IF options ->> 'concurrency' IN ('exclusive', 'ordered') THEN
      IF coalesce(message_key, '') = '' THEN
        RAISE EXCEPTION 'SQL1007 key_required: % needs a message key',
          options ->> 'concurrency' USING ERRCODE = 'SQ004';
      END IF;
    END IF;
  END IF;
  EXECUTE format(
    'SELECT p.message_id FROM %I.%I($1, $2, $3, $4, $5, $6, $7, $8) AS p',
    '{schema_text}', 'produce_batch_' || target.id)
  INTO id
  USING ARRAY[body], ARRAY[nullif(routing_key, '')],
        ARRAY[nullif(message_key, '')], ARRAY[NULL]::text[],
        ARRAY[nullif(headers, '{}')::text], ARRAY[nullif(options, '{}')::text],
        ARRAY[{schema}.idempotency_uuid(nullif(idempotency_key, ''))],
        ARRAY[schema_version];
  RETURN id;
END $fn$;
