CREATE FUNCTION public.refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    begin
      raise exception 'the table % only grows', tg_table_name using errcode = 'insufficient_privilege';
    end
    $$;

CREATE FUNCTION public.refuse_compacted() RETURNS boolean
    LANGUAGE plpgsql
    AS $$
    begin
      raise exception 'an execution is compacted' using errcode = 'RL002';
    end
    $$;

CREATE FUNCTION public.refuse_moved_organizations() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO '$user', 'public'
    AS $$
    declare
      closed_here text;
    begin
      if not exists (select from moved_organizations) then
        return null;
      end if;
      select string_agg(organization, e'
') into closed_here from moved_organizations
      where closed and organization in (select organization from added);
      if closed_here is not null then
        raise exception 'an organization has left this database' using errcode = 'RL001', detail = closed_here;
      end if;
      return null;
    end
    $$;

CREATE TABLE public.access_log (
    organization text NOT NULL COLLATE pg_catalog."C",
    at timestamp(3) with time zone NOT NULL,
    id bigint NOT NULL,
    subject text NOT NULL,
    name text NOT NULL,
    action text NOT NULL,
    detail text DEFAULT ''::text NOT NULL,
    address text DEFAULT ''::text NOT NULL,
    requests integer DEFAULT 1 NOT NULL,
    CONSTRAINT access_log_action_check CHECK ((action = ANY (ARRAY['looked'::text, 'exported'::text, 'tested'::text, 'logged out'::text, 'refused'::text, 'issued'::text, 'rotated'::text, 'revoked'::text, 'named'::text, 'muted'::text, 'unmuted'::text, 'acknowledged'::text, 'closed'::text, 'noted'::text])))
);

ALTER TABLE public.access_log ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.access_log_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.acts (
    organization text NOT NULL COLLATE pg_catalog."C",
    id uuid NOT NULL,
    kind text NOT NULL,
    automation_id uuid,
    execution_id text COLLATE pg_catalog."C",
    about uuid,
    note text NOT NULL,
    details jsonb DEFAULT '{}'::jsonb NOT NULL,
    until_at timestamp(3) with time zone,
    made_by text NOT NULL,
    made_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    recorded_at timestamp(3) with time zone,
    mac bytea,
    salt bytea,
    note_digest bytea,
    CONSTRAINT acts_kind_check CHECK ((kind = ANY (ARRAY['mute'::text, 'unmute'::text, 'acknowledge'::text, 'close'::text, 'note'::text])))
);

CREATE TABLE public.alert_notices (
    alert_id uuid NOT NULL,
    receiver text NOT NULL,
    organization text NOT NULL COLLATE pg_catalog."C",
    first_told_at timestamp(3) with time zone,
    resolved_told_at timestamp(3) with time zone,
    last_error text,
    known_as jsonb DEFAULT '[]'::jsonb NOT NULL
);

CREATE TABLE public.alerts (
    id uuid NOT NULL,
    organization text NOT NULL COLLATE pg_catalog."C",
    automation_id uuid NOT NULL,
    kind text NOT NULL,
    occurrence text NOT NULL COLLATE pg_catalog."C",
    reason text NOT NULL,
    facts jsonb NOT NULL,
    opened_at timestamp(3) with time zone NOT NULL,
    seen_at timestamp(3) with time zone NOT NULL,
    resolved_at timestamp(3) with time zone,
    resolved_reason text,
    declared jsonb,
    told_channels jsonb,
    kept_back text,
    CONSTRAINT alerts_kept_back_check CHECK ((kept_back = ANY (ARRAY['opened'::text, 'resolved'::text]))),
    CONSTRAINT alerts_kind_check CHECK ((kind = ANY (ARRAY['missing'::text, 'late'::text, 'overrunning'::text, 'failing'::text, 'lost'::text, 'unknown'::text])))
);

CREATE TABLE public.automations (
    organization text NOT NULL COLLATE pg_catalog."C",
    automation_id uuid NOT NULL,
    namespace text NOT NULL,
    name text NOT NULL,
    uid text NOT NULL,
    generation bigint NOT NULL,
    display_name text NOT NULL,
    owner text NOT NULL,
    tags text[] DEFAULT '{}'::text[] NOT NULL,
    links jsonb NOT NULL,
    expect jsonb,
    alert_labels jsonb NOT NULL,
    suspend boolean NOT NULL,
    declared_at timestamp(3) with time zone NOT NULL,
    next_at timestamp(3) with time zone,
    evaluated_at timestamp(3) with time zone,
    verdict jsonb,
    start_before timestamp(3) with time zone,
    last_start timestamp(3) with time zone,
    rules jsonb DEFAULT '{}'::jsonb NOT NULL,
    note text,
    declared boolean DEFAULT true NOT NULL
)
WITH (fillfactor='50');

CREATE TABLE public.captured_jobs (
    uid text NOT NULL,
    organization text NOT NULL,
    automation_id uuid NOT NULL,
    namespace text NOT NULL,
    name text NOT NULL,
    started_at timestamp(3) with time zone,
    recorded text[] DEFAULT '{}'::text[] NOT NULL,
    gone_at timestamp(3) with time zone
);

CREATE TABLE public.channel_keys (
    id boolean DEFAULT true NOT NULL,
    public_key jsonb NOT NULL,
    CONSTRAINT channel_keys_id_check CHECK (id)
);

CREATE TABLE public.channels (
    organization text NOT NULL COLLATE pg_catalog."C",
    namespace text NOT NULL,
    name text NOT NULL,
    type text NOT NULL,
    url text NOT NULL,
    "to" text[] NOT NULL,
    secret_ref text NOT NULL,
    kinds text[] NOT NULL,
    filter jsonb NOT NULL,
    quiet_hours jsonb,
    allow_private boolean NOT NULL,
    failing_since timestamp(3) with time zone,
    open_until timestamp(3) with time zone
);

CREATE TABLE public.cold_days (
    organization text NOT NULL COLLATE pg_catalog."C",
    day date NOT NULL,
    object text NOT NULL COLLATE pg_catalog."C",
    rows bigint NOT NULL,
    manifest_sha256 text NOT NULL
);

CREATE TABLE public.compacted_executions (
    organization text NOT NULL COLLATE pg_catalog."C",
    id integer NOT NULL,
    automation_id uuid NOT NULL,
    oldest timestamp(3) with time zone NOT NULL,
    newest timestamp(3) with time zone NOT NULL,
    last_at timestamp(3) with time zone NOT NULL,
    executions integer NOT NULL,
    failures integer NOT NULL,
    anomalies integer NOT NULL,
    ids uuid[] NOT NULL,
    names text[],
    first_after integer[] NOT NULL,
    last_after integer[] NOT NULL,
    started_after integer[] NOT NULL,
    failed_after integer[] NOT NULL,
    ended_before integer[] NOT NULL,
    accepted_after integer[] NOT NULL,
    start_counts integer[] NOT NULL,
    event_counts integer[] NOT NULL,
    warning_counts integer[] NOT NULL,
    error_counts integer[] NOT NULL,
    end_counts integer[] NOT NULL
);

CREATE TABLE public.compacted_keys (
    block integer NOT NULL,
    key integer NOT NULL,
    organization text NOT NULL COLLATE pg_catalog."C"
);

CREATE TABLE public.console_automations (
    organization text NOT NULL COLLATE pg_catalog."C",
    automation_id uuid NOT NULL,
    spec jsonb NOT NULL,
    generation bigint NOT NULL
);

ALTER TABLE public.console_automations ALTER COLUMN generation ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.console_automations_generation_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.console_channels (
    organization text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    spec jsonb NOT NULL,
    sealed text,
    generation bigint NOT NULL
);

ALTER TABLE public.console_channels ALTER COLUMN generation ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.console_channels_generation_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.console_keys (
    name text NOT NULL,
    key bytea NOT NULL
);

CREATE TABLE public.controller_state (
    only_row boolean DEFAULT true NOT NULL,
    watermark timestamp(3) with time zone,
    watermark_at timestamp(3) with time zone,
    ticked_at timestamp(3) with time zone,
    blind_since timestamp(3) with time zone,
    blind_reason text,
    executions_until timestamp(3) with time zone,
    executions_behind jsonb DEFAULT '{}'::jsonb NOT NULL,
    alertmanagers text[] DEFAULT '{}'::text[] NOT NULL,
    CONSTRAINT controller_state_only_row_check CHECK (only_row)
);

CREATE TABLE public.dead_letters (
    organization text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    created_at timestamp(3) with time zone NOT NULL,
    dead_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    reason text NOT NULL,
    event bytea NOT NULL
);

CREATE TABLE public.deliveries (
    id uuid NOT NULL,
    sequence bigint NOT NULL,
    organization text NOT NULL COLLATE pg_catalog."C",
    automation_id uuid NOT NULL,
    channel_namespace text NOT NULL,
    channel_name text NOT NULL,
    event jsonb NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    next_attempt_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    last_status integer,
    last_error text,
    delivered_at timestamp(3) with time zone,
    given_up_at timestamp(3) with time zone
);

ALTER TABLE public.deliveries ALTER COLUMN sequence ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.deliveries_sequence_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.erasures (
    id uuid NOT NULL,
    organization text NOT NULL COLLATE pg_catalog."C",
    erased_at timestamp(3) with time zone NOT NULL,
    erased_by text NOT NULL,
    reason text NOT NULL,
    scope text NOT NULL,
    automation_id uuid,
    event_ids bytea NOT NULL,
    CONSTRAINT erasures_scope_check CHECK ((scope = ANY (ARRAY['organization'::text, 'automation'::text, 'execution'::text, 'text'::text])))
);
ALTER TABLE ONLY public.erasures ALTER COLUMN event_ids SET STORAGE EXTERNAL;

CREATE TABLE public.events (
    organization text NOT NULL COLLATE pg_catalog."C",
    created_at timestamp(3) with time zone NOT NULL,
    id uuid NOT NULL,
    automation_id uuid NOT NULL,
    automation_as_sent text,
    execution_id text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL,
    description text NOT NULL,
    error_id text NOT NULL,
    error_description text NOT NULL,
    occurred_at timestamp(3) with time zone,
    salt bytea,
    texts_digest bytea,
    CONSTRAINT events_kind_check CHECK ((kind = ANY (ARRAY['START'::text, 'EVENT'::text, 'WARNING'::text, 'ERROR'::text, 'END'::text])))
)
PARTITION BY RANGE (created_at);

COMMENT ON COLUMN public.events.automation_as_sent IS 'automation_id as the caller wrote it, where that is not the canonical lower-case form';

CREATE TABLE public.events_default (
    organization text NOT NULL COLLATE pg_catalog."C",
    created_at timestamp(3) with time zone NOT NULL,
    id uuid NOT NULL,
    automation_id uuid NOT NULL,
    automation_as_sent text,
    execution_id text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL,
    description text NOT NULL,
    error_id text NOT NULL,
    error_description text NOT NULL,
    occurred_at timestamp(3) with time zone,
    salt bytea,
    texts_digest bytea,
    CONSTRAINT events_kind_check CHECK ((kind = ANY (ARRAY['START'::text, 'EVENT'::text, 'WARNING'::text, 'ERROR'::text, 'END'::text])))
);

CREATE TABLE public.executions (
    organization text NOT NULL COLLATE pg_catalog."C",
    automation_id uuid NOT NULL,
    execution_id text NOT NULL COLLATE pg_catalog."C",
    state text GENERATED ALWAYS AS (
CASE
    WHEN (error_count > 0) THEN 'failed'::text
    WHEN (end_count > 0) THEN 'succeeded'::text
    ELSE 'running'::text
END) STORED NOT NULL,
    first_event_at timestamp(3) with time zone NOT NULL,
    last_event_at timestamp(3) with time zone NOT NULL,
    started_at timestamp(3) with time zone,
    failed_at timestamp(3) with time zone,
    ended_at timestamp(3) with time zone,
    start_count integer NOT NULL,
    event_count integer NOT NULL,
    warning_count integer NOT NULL,
    error_count integer NOT NULL,
    end_count integer NOT NULL,
    start_missing boolean GENERATED ALWAYS AS ((start_count = 0)) STORED NOT NULL,
    start_repeated boolean GENERATED ALWAYS AS ((start_count > 1)) STORED NOT NULL,
    start_late boolean GENERATED ALWAYS AS (COALESCE((started_at > first_event_at), false)) STORED NOT NULL,
    event_after_end boolean GENERATED ALWAYS AS (COALESCE((last_event_at > ended_at), false)) STORED NOT NULL,
    last_accepted_at timestamp(3) with time zone
)
PARTITION BY HASH (organization);

CREATE VIEW public.every_execution WITH (security_invoker='true') AS
 SELECT executions.organization,
    executions.automation_id,
    executions.execution_id,
    executions.state,
    executions.first_event_at,
    executions.last_event_at,
    executions.started_at,
    executions.failed_at,
    executions.ended_at,
    executions.start_count,
    executions.event_count,
    executions.warning_count,
    executions.error_count,
    executions.end_count,
    executions.start_missing,
    executions.start_repeated,
    executions.start_late,
    executions.event_after_end,
    executions.last_accepted_at
   FROM public.executions
UNION ALL
 SELECT b.organization,
    b.automation_id,
    (COALESCE(u.name, (u.id)::text) COLLATE "C") AS execution_id,
        CASE
            WHEN (u.error_count > 0) THEN 'failed'::text
            WHEN (u.end_count > 0) THEN 'succeeded'::text
            ELSE 'running'::text
        END AS state,
    f.first_event_at,
    l.last_event_at,
    (f.first_event_at + ((u.started_after)::double precision * '00:00:00.001'::interval)) AS started_at,
    (f.first_event_at + ((u.failed_after)::double precision * '00:00:00.001'::interval)) AS failed_at,
    (l.last_event_at - ((u.ended_before)::double precision * '00:00:00.001'::interval)) AS ended_at,
    u.start_count,
    u.event_count,
    u.warning_count,
    u.error_count,
    u.end_count,
    (u.start_count = 0) AS start_missing,
    (u.start_count > 1) AS start_repeated,
    COALESCE((u.started_after > 0), false) AS start_late,
    COALESCE((u.ended_before > 0), false) AS event_after_end,
    (l.last_event_at + ((u.accepted_after)::double precision * '00:00:00.001'::interval)) AS last_accepted_at
   FROM (((( SELECT compacted_executions.organization,
            compacted_executions.id,
            compacted_executions.automation_id,
            compacted_executions.oldest,
            compacted_executions.newest,
            compacted_executions.last_at,
            compacted_executions.executions,
            compacted_executions.failures,
            compacted_executions.anomalies,
            compacted_executions.ids,
            compacted_executions.names,
            compacted_executions.first_after,
            compacted_executions.last_after,
            compacted_executions.started_after,
            compacted_executions.failed_after,
            compacted_executions.ended_before,
            compacted_executions.accepted_after,
            compacted_executions.start_counts,
            compacted_executions.event_counts,
            compacted_executions.warning_counts,
            compacted_executions.error_counts,
            compacted_executions.end_counts
           FROM public.compacted_executions) b
     CROSS JOIN LATERAL UNNEST(b.ids, b.names, b.first_after, b.last_after, b.started_after, b.failed_after, b.ended_before, b.accepted_after, b.start_counts, b.event_counts, b.warning_counts, b.error_counts, b.end_counts) u(id, name, first_after, last_after, started_after, failed_after, ended_before, accepted_after, start_count, event_count, warning_count, error_count, end_count))
     CROSS JOIN LATERAL ( SELECT (b.oldest + ((u.first_after)::double precision * '00:00:00.001'::interval)) AS first_event_at) f)
     CROSS JOIN LATERAL ( SELECT (f.first_event_at + ((u.last_after)::double precision * '00:00:00.001'::interval)) AS last_event_at) l);

CREATE TABLE public.executions_0 (
    organization text NOT NULL COLLATE pg_catalog."C",
    automation_id uuid NOT NULL,
    execution_id text NOT NULL COLLATE pg_catalog."C",
    state text GENERATED ALWAYS AS (
CASE
    WHEN (error_count > 0) THEN 'failed'::text
    WHEN (end_count > 0) THEN 'succeeded'::text
    ELSE 'running'::text
END) STORED NOT NULL,
    first_event_at timestamp(3) with time zone NOT NULL,
    last_event_at timestamp(3) with time zone NOT NULL,
    started_at timestamp(3) with time zone,
    failed_at timestamp(3) with time zone,
    ended_at timestamp(3) with time zone,
    start_count integer NOT NULL,
    event_count integer NOT NULL,
    warning_count integer NOT NULL,
    error_count integer NOT NULL,
    end_count integer NOT NULL,
    start_missing boolean GENERATED ALWAYS AS ((start_count = 0)) STORED NOT NULL,
    start_repeated boolean GENERATED ALWAYS AS ((start_count > 1)) STORED NOT NULL,
    start_late boolean GENERATED ALWAYS AS (COALESCE((started_at > first_event_at), false)) STORED NOT NULL,
    event_after_end boolean GENERATED ALWAYS AS (COALESCE((last_event_at > ended_at), false)) STORED NOT NULL,
    last_accepted_at timestamp(3) with time zone
)
WITH (fillfactor='50');

CREATE TABLE public.executions_1 (
    organization text NOT NULL COLLATE pg_catalog."C",
    automation_id uuid NOT NULL,
    execution_id text NOT NULL COLLATE pg_catalog."C",
    state text GENERATED ALWAYS AS (
CASE
    WHEN (error_count > 0) THEN 'failed'::text
    WHEN (end_count > 0) THEN 'succeeded'::text
    ELSE 'running'::text
END) STORED NOT NULL,
    first_event_at timestamp(3) with time zone NOT NULL,
    last_event_at timestamp(3) with time zone NOT NULL,
    started_at timestamp(3) with time zone,
    failed_at timestamp(3) with time zone,
    ended_at timestamp(3) with time zone,
    start_count integer NOT NULL,
    event_count integer NOT NULL,
    warning_count integer NOT NULL,
    error_count integer NOT NULL,
    end_count integer NOT NULL,
    start_missing boolean GENERATED ALWAYS AS ((start_count = 0)) STORED NOT NULL,
    start_repeated boolean GENERATED ALWAYS AS ((start_count > 1)) STORED NOT NULL,
    start_late boolean GENERATED ALWAYS AS (COALESCE((started_at > first_event_at), false)) STORED NOT NULL,
    event_after_end boolean GENERATED ALWAYS AS (COALESCE((last_event_at > ended_at), false)) STORED NOT NULL,
    last_accepted_at timestamp(3) with time zone
)
WITH (fillfactor='50');

CREATE TABLE public.executions_10 (
    organization text NOT NULL COLLATE pg_catalog."C",
    automation_id uuid NOT NULL,
    execution_id text NOT NULL COLLATE pg_catalog."C",
    state text GENERATED ALWAYS AS (
CASE
    WHEN (error_count > 0) THEN 'failed'::text
    WHEN (end_count > 0) THEN 'succeeded'::text
    ELSE 'running'::text
END) STORED NOT NULL,
    first_event_at timestamp(3) with time zone NOT NULL,
    last_event_at timestamp(3) with time zone NOT NULL,
    started_at timestamp(3) with time zone,
    failed_at timestamp(3) with time zone,
    ended_at timestamp(3) with time zone,
    start_count integer NOT NULL,
    event_count integer NOT NULL,
    warning_count integer NOT NULL,
    error_count integer NOT NULL,
    end_count integer NOT NULL,
    start_missing boolean GENERATED ALWAYS AS ((start_count = 0)) STORED NOT NULL,
    start_repeated boolean GENERATED ALWAYS AS ((start_count > 1)) STORED NOT NULL,
    start_late boolean GENERATED ALWAYS AS (COALESCE((started_at > first_event_at), false)) STORED NOT NULL,
    event_after_end boolean GENERATED ALWAYS AS (COALESCE((last_event_at > ended_at), false)) STORED NOT NULL,
    last_accepted_at timestamp(3) with time zone
)
WITH (fillfactor='50');

CREATE TABLE public.executions_11 (
    organization text NOT NULL COLLATE pg_catalog."C",
    automation_id uuid NOT NULL,
    execution_id text NOT NULL COLLATE pg_catalog."C",
    state text GENERATED ALWAYS AS (
CASE
    WHEN (error_count > 0) THEN 'failed'::text
    WHEN (end_count > 0) THEN 'succeeded'::text
    ELSE 'running'::text
END) STORED NOT NULL,
    first_event_at timestamp(3) with time zone NOT NULL,
    last_event_at timestamp(3) with time zone NOT NULL,
    started_at timestamp(3) with time zone,
    failed_at timestamp(3) with time zone,
    ended_at timestamp(3) with time zone,
    start_count integer NOT NULL,
    event_count integer NOT NULL,
    warning_count integer NOT NULL,
    error_count integer NOT NULL,
    end_count integer NOT NULL,
    start_missing boolean GENERATED ALWAYS AS ((start_count = 0)) STORED NOT NULL,
    start_repeated boolean GENERATED ALWAYS AS ((start_count > 1)) STORED NOT NULL,
    start_late boolean GENERATED ALWAYS AS (COALESCE((started_at > first_event_at), false)) STORED NOT NULL,
    event_after_end boolean GENERATED ALWAYS AS (COALESCE((last_event_at > ended_at), false)) STORED NOT NULL,
    last_accepted_at timestamp(3) with time zone
)
WITH (fillfactor='50');

CREATE TABLE public.executions_12 (
    organization text NOT NULL COLLATE pg_catalog."C",
    automation_id uuid NOT NULL,
    execution_id text NOT NULL COLLATE pg_catalog."C",
    state text GENERATED ALWAYS AS (
CASE
    WHEN (error_count > 0) THEN 'failed'::text
    WHEN (end_count > 0) THEN 'succeeded'::text
    ELSE 'running'::text
END) STORED NOT NULL,
    first_event_at timestamp(3) with time zone NOT NULL,
    last_event_at timestamp(3) with time zone NOT NULL,
    started_at timestamp(3) with time zone,
    failed_at timestamp(3) with time zone,
    ended_at timestamp(3) with time zone,
    start_count integer NOT NULL,
    event_count integer NOT NULL,
    warning_count integer NOT NULL,
    error_count integer NOT NULL,
    end_count integer NOT NULL,
    start_missing boolean GENERATED ALWAYS AS ((start_count = 0)) STORED NOT NULL,
    start_repeated boolean GENERATED ALWAYS AS ((start_count > 1)) STORED NOT NULL,
    start_late boolean GENERATED ALWAYS AS (COALESCE((started_at > first_event_at), false)) STORED NOT NULL,
    event_after_end boolean GENERATED ALWAYS AS (COALESCE((last_event_at > ended_at), false)) STORED NOT NULL,
    last_accepted_at timestamp(3) with time zone
)
WITH (fillfactor='50');

CREATE TABLE public.executions_13 (
    organization text NOT NULL COLLATE pg_catalog."C",
    automation_id uuid NOT NULL,
    execution_id text NOT NULL COLLATE pg_catalog."C",
    state text GENERATED ALWAYS AS (
CASE
    WHEN (error_count > 0) THEN 'failed'::text
    WHEN (end_count > 0) THEN 'succeeded'::text
    ELSE 'running'::text
END) STORED NOT NULL,
    first_event_at timestamp(3) with time zone NOT NULL,
    last_event_at timestamp(3) with time zone NOT NULL,
    started_at timestamp(3) with time zone,
    failed_at timestamp(3) with time zone,
    ended_at timestamp(3) with time zone,
    start_count integer NOT NULL,
    event_count integer NOT NULL,
    warning_count integer NOT NULL,
    error_count integer NOT NULL,
    end_count integer NOT NULL,
    start_missing boolean GENERATED ALWAYS AS ((start_count = 0)) STORED NOT NULL,
    start_repeated boolean GENERATED ALWAYS AS ((start_count > 1)) STORED NOT NULL,
    start_late boolean GENERATED ALWAYS AS (COALESCE((started_at > first_event_at), false)) STORED NOT NULL,
    event_after_end boolean GENERATED ALWAYS AS (COALESCE((last_event_at > ended_at), false)) STORED NOT NULL,
    last_accepted_at timestamp(3) with time zone
)
WITH (fillfactor='50');

CREATE TABLE public.executions_14 (
    organization text NOT NULL COLLATE pg_catalog."C",
    automation_id uuid NOT NULL,
    execution_id text NOT NULL COLLATE pg_catalog."C",
    state text GENERATED ALWAYS AS (
CASE
    WHEN (error_count > 0) THEN 'failed'::text
    WHEN (end_count > 0) THEN 'succeeded'::text
    ELSE 'running'::text
END) STORED NOT NULL,
    first_event_at timestamp(3) with time zone NOT NULL,
    last_event_at timestamp(3) with time zone NOT NULL,
    started_at timestamp(3) with time zone,
    failed_at timestamp(3) with time zone,
    ended_at timestamp(3) with time zone,
    start_count integer NOT NULL,
    event_count integer NOT NULL,
    warning_count integer NOT NULL,
    error_count integer NOT NULL,
    end_count integer NOT NULL,
    start_missing boolean GENERATED ALWAYS AS ((start_count = 0)) STORED NOT NULL,
    start_repeated boolean GENERATED ALWAYS AS ((start_count > 1)) STORED NOT NULL,
    start_late boolean GENERATED ALWAYS AS (COALESCE((started_at > first_event_at), false)) STORED NOT NULL,
    event_after_end boolean GENERATED ALWAYS AS (COALESCE((last_event_at > ended_at), false)) STORED NOT NULL,
    last_accepted_at timestamp(3) with time zone
)
WITH (fillfactor='50');

CREATE TABLE public.executions_15 (
    organization text NOT NULL COLLATE pg_catalog."C",
    automation_id uuid NOT NULL,
    execution_id text NOT NULL COLLATE pg_catalog."C",
    state text GENERATED ALWAYS AS (
CASE
    WHEN (error_count > 0) THEN 'failed'::text
    WHEN (end_count > 0) THEN 'succeeded'::text
    ELSE 'running'::text
END) STORED NOT NULL,
    first_event_at timestamp(3) with time zone NOT NULL,
    last_event_at timestamp(3) with time zone NOT NULL,
    started_at timestamp(3) with time zone,
    failed_at timestamp(3) with time zone,
    ended_at timestamp(3) with time zone,
    start_count integer NOT NULL,
    event_count integer NOT NULL,
    warning_count integer NOT NULL,
    error_count integer NOT NULL,
    end_count integer NOT NULL,
    start_missing boolean GENERATED ALWAYS AS ((start_count = 0)) STORED NOT NULL,
    start_repeated boolean GENERATED ALWAYS AS ((start_count > 1)) STORED NOT NULL,
    start_late boolean GENERATED ALWAYS AS (COALESCE((started_at > first_event_at), false)) STORED NOT NULL,
    event_after_end boolean GENERATED ALWAYS AS (COALESCE((last_event_at > ended_at), false)) STORED NOT NULL,
    last_accepted_at timestamp(3) with time zone
)
WITH (fillfactor='50');

CREATE TABLE public.executions_2 (
    organization text NOT NULL COLLATE pg_catalog."C",
    automation_id uuid NOT NULL,
    execution_id text NOT NULL COLLATE pg_catalog."C",
    state text GENERATED ALWAYS AS (
CASE
    WHEN (error_count > 0) THEN 'failed'::text
    WHEN (end_count > 0) THEN 'succeeded'::text
    ELSE 'running'::text
END) STORED NOT NULL,
    first_event_at timestamp(3) with time zone NOT NULL,
    last_event_at timestamp(3) with time zone NOT NULL,
    started_at timestamp(3) with time zone,
    failed_at timestamp(3) with time zone,
    ended_at timestamp(3) with time zone,
    start_count integer NOT NULL,
    event_count integer NOT NULL,
    warning_count integer NOT NULL,
    error_count integer NOT NULL,
    end_count integer NOT NULL,
    start_missing boolean GENERATED ALWAYS AS ((start_count = 0)) STORED NOT NULL,
    start_repeated boolean GENERATED ALWAYS AS ((start_count > 1)) STORED NOT NULL,
    start_late boolean GENERATED ALWAYS AS (COALESCE((started_at > first_event_at), false)) STORED NOT NULL,
    event_after_end boolean GENERATED ALWAYS AS (COALESCE((last_event_at > ended_at), false)) STORED NOT NULL,
    last_accepted_at timestamp(3) with time zone
)
WITH (fillfactor='50');

CREATE TABLE public.executions_3 (
    organization text NOT NULL COLLATE pg_catalog."C",
    automation_id uuid NOT NULL,
    execution_id text NOT NULL COLLATE pg_catalog."C",
    state text GENERATED ALWAYS AS (
CASE
    WHEN (error_count > 0) THEN 'failed'::text
    WHEN (end_count > 0) THEN 'succeeded'::text
    ELSE 'running'::text
END) STORED NOT NULL,
    first_event_at timestamp(3) with time zone NOT NULL,
    last_event_at timestamp(3) with time zone NOT NULL,
    started_at timestamp(3) with time zone,
    failed_at timestamp(3) with time zone,
    ended_at timestamp(3) with time zone,
    start_count integer NOT NULL,
    event_count integer NOT NULL,
    warning_count integer NOT NULL,
    error_count integer NOT NULL,
    end_count integer NOT NULL,
    start_missing boolean GENERATED ALWAYS AS ((start_count = 0)) STORED NOT NULL,
    start_repeated boolean GENERATED ALWAYS AS ((start_count > 1)) STORED NOT NULL,
    start_late boolean GENERATED ALWAYS AS (COALESCE((started_at > first_event_at), false)) STORED NOT NULL,
    event_after_end boolean GENERATED ALWAYS AS (COALESCE((last_event_at > ended_at), false)) STORED NOT NULL,
    last_accepted_at timestamp(3) with time zone
)
WITH (fillfactor='50');

CREATE TABLE public.executions_4 (
    organization text NOT NULL COLLATE pg_catalog."C",
    automation_id uuid NOT NULL,
    execution_id text NOT NULL COLLATE pg_catalog."C",
    state text GENERATED ALWAYS AS (
CASE
    WHEN (error_count > 0) THEN 'failed'::text
    WHEN (end_count > 0) THEN 'succeeded'::text
    ELSE 'running'::text
END) STORED NOT NULL,
    first_event_at timestamp(3) with time zone NOT NULL,
    last_event_at timestamp(3) with time zone NOT NULL,
    started_at timestamp(3) with time zone,
    failed_at timestamp(3) with time zone,
    ended_at timestamp(3) with time zone,
    start_count integer NOT NULL,
    event_count integer NOT NULL,
    warning_count integer NOT NULL,
    error_count integer NOT NULL,
    end_count integer NOT NULL,
    start_missing boolean GENERATED ALWAYS AS ((start_count = 0)) STORED NOT NULL,
    start_repeated boolean GENERATED ALWAYS AS ((start_count > 1)) STORED NOT NULL,
    start_late boolean GENERATED ALWAYS AS (COALESCE((started_at > first_event_at), false)) STORED NOT NULL,
    event_after_end boolean GENERATED ALWAYS AS (COALESCE((last_event_at > ended_at), false)) STORED NOT NULL,
    last_accepted_at timestamp(3) with time zone
)
WITH (fillfactor='50');

CREATE TABLE public.executions_5 (
    organization text NOT NULL COLLATE pg_catalog."C",
    automation_id uuid NOT NULL,
    execution_id text NOT NULL COLLATE pg_catalog."C",
    state text GENERATED ALWAYS AS (
CASE
    WHEN (error_count > 0) THEN 'failed'::text
    WHEN (end_count > 0) THEN 'succeeded'::text
    ELSE 'running'::text
END) STORED NOT NULL,
    first_event_at timestamp(3) with time zone NOT NULL,
    last_event_at timestamp(3) with time zone NOT NULL,
    started_at timestamp(3) with time zone,
    failed_at timestamp(3) with time zone,
    ended_at timestamp(3) with time zone,
    start_count integer NOT NULL,
    event_count integer NOT NULL,
    warning_count integer NOT NULL,
    error_count integer NOT NULL,
    end_count integer NOT NULL,
    start_missing boolean GENERATED ALWAYS AS ((start_count = 0)) STORED NOT NULL,
    start_repeated boolean GENERATED ALWAYS AS ((start_count > 1)) STORED NOT NULL,
    start_late boolean GENERATED ALWAYS AS (COALESCE((started_at > first_event_at), false)) STORED NOT NULL,
    event_after_end boolean GENERATED ALWAYS AS (COALESCE((last_event_at > ended_at), false)) STORED NOT NULL,
    last_accepted_at timestamp(3) with time zone
)
WITH (fillfactor='50');

CREATE TABLE public.executions_6 (
    organization text NOT NULL COLLATE pg_catalog."C",
    automation_id uuid NOT NULL,
    execution_id text NOT NULL COLLATE pg_catalog."C",
    state text GENERATED ALWAYS AS (
CASE
    WHEN (error_count > 0) THEN 'failed'::text
    WHEN (end_count > 0) THEN 'succeeded'::text
    ELSE 'running'::text
END) STORED NOT NULL,
    first_event_at timestamp(3) with time zone NOT NULL,
    last_event_at timestamp(3) with time zone NOT NULL,
    started_at timestamp(3) with time zone,
    failed_at timestamp(3) with time zone,
    ended_at timestamp(3) with time zone,
    start_count integer NOT NULL,
    event_count integer NOT NULL,
    warning_count integer NOT NULL,
    error_count integer NOT NULL,
    end_count integer NOT NULL,
    start_missing boolean GENERATED ALWAYS AS ((start_count = 0)) STORED NOT NULL,
    start_repeated boolean GENERATED ALWAYS AS ((start_count > 1)) STORED NOT NULL,
    start_late boolean GENERATED ALWAYS AS (COALESCE((started_at > first_event_at), false)) STORED NOT NULL,
    event_after_end boolean GENERATED ALWAYS AS (COALESCE((last_event_at > ended_at), false)) STORED NOT NULL,
    last_accepted_at timestamp(3) with time zone
)
WITH (fillfactor='50');

CREATE TABLE public.executions_7 (
    organization text NOT NULL COLLATE pg_catalog."C",
    automation_id uuid NOT NULL,
    execution_id text NOT NULL COLLATE pg_catalog."C",
    state text GENERATED ALWAYS AS (
CASE
    WHEN (error_count > 0) THEN 'failed'::text
    WHEN (end_count > 0) THEN 'succeeded'::text
    ELSE 'running'::text
END) STORED NOT NULL,
    first_event_at timestamp(3) with time zone NOT NULL,
    last_event_at timestamp(3) with time zone NOT NULL,
    started_at timestamp(3) with time zone,
    failed_at timestamp(3) with time zone,
    ended_at timestamp(3) with time zone,
    start_count integer NOT NULL,
    event_count integer NOT NULL,
    warning_count integer NOT NULL,
    error_count integer NOT NULL,
    end_count integer NOT NULL,
    start_missing boolean GENERATED ALWAYS AS ((start_count = 0)) STORED NOT NULL,
    start_repeated boolean GENERATED ALWAYS AS ((start_count > 1)) STORED NOT NULL,
    start_late boolean GENERATED ALWAYS AS (COALESCE((started_at > first_event_at), false)) STORED NOT NULL,
    event_after_end boolean GENERATED ALWAYS AS (COALESCE((last_event_at > ended_at), false)) STORED NOT NULL,
    last_accepted_at timestamp(3) with time zone
)
WITH (fillfactor='50');

CREATE TABLE public.executions_8 (
    organization text NOT NULL COLLATE pg_catalog."C",
    automation_id uuid NOT NULL,
    execution_id text NOT NULL COLLATE pg_catalog."C",
    state text GENERATED ALWAYS AS (
CASE
    WHEN (error_count > 0) THEN 'failed'::text
    WHEN (end_count > 0) THEN 'succeeded'::text
    ELSE 'running'::text
END) STORED NOT NULL,
    first_event_at timestamp(3) with time zone NOT NULL,
    last_event_at timestamp(3) with time zone NOT NULL,
    started_at timestamp(3) with time zone,
    failed_at timestamp(3) with time zone,
    ended_at timestamp(3) with time zone,
    start_count integer NOT NULL,
    event_count integer NOT NULL,
    warning_count integer NOT NULL,
    error_count integer NOT NULL,
    end_count integer NOT NULL,
    start_missing boolean GENERATED ALWAYS AS ((start_count = 0)) STORED NOT NULL,
    start_repeated boolean GENERATED ALWAYS AS ((start_count > 1)) STORED NOT NULL,
    start_late boolean GENERATED ALWAYS AS (COALESCE((started_at > first_event_at), false)) STORED NOT NULL,
    event_after_end boolean GENERATED ALWAYS AS (COALESCE((last_event_at > ended_at), false)) STORED NOT NULL,
    last_accepted_at timestamp(3) with time zone
)
WITH (fillfactor='50');

CREATE TABLE public.executions_9 (
    organization text NOT NULL COLLATE pg_catalog."C",
    automation_id uuid NOT NULL,
    execution_id text NOT NULL COLLATE pg_catalog."C",
    state text GENERATED ALWAYS AS (
CASE
    WHEN (error_count > 0) THEN 'failed'::text
    WHEN (end_count > 0) THEN 'succeeded'::text
    ELSE 'running'::text
END) STORED NOT NULL,
    first_event_at timestamp(3) with time zone NOT NULL,
    last_event_at timestamp(3) with time zone NOT NULL,
    started_at timestamp(3) with time zone,
    failed_at timestamp(3) with time zone,
    ended_at timestamp(3) with time zone,
    start_count integer NOT NULL,
    event_count integer NOT NULL,
    warning_count integer NOT NULL,
    error_count integer NOT NULL,
    end_count integer NOT NULL,
    start_missing boolean GENERATED ALWAYS AS ((start_count = 0)) STORED NOT NULL,
    start_repeated boolean GENERATED ALWAYS AS ((start_count > 1)) STORED NOT NULL,
    start_late boolean GENERATED ALWAYS AS (COALESCE((started_at > first_event_at), false)) STORED NOT NULL,
    event_after_end boolean GENERATED ALWAYS AS (COALESCE((last_event_at > ended_at), false)) STORED NOT NULL,
    last_accepted_at timestamp(3) with time zone
)
WITH (fillfactor='50');

CREATE TABLE public.known_organizations (
    organization text NOT NULL COLLATE pg_catalog."C",
    silent boolean DEFAULT false NOT NULL
);

CREATE TABLE public.kysely_migration (
    name character varying(255) NOT NULL,
    "timestamp" character varying(255) NOT NULL
);

CREATE TABLE public.kysely_migration_lock (
    id character varying(255) NOT NULL,
    is_locked integer DEFAULT 0 NOT NULL
);

CREATE TABLE public.log_acts (
    organization text NOT NULL COLLATE pg_catalog."C",
    id uuid NOT NULL,
    act text NOT NULL
);

CREATE TABLE public.log_checkpoints (
    organization text NOT NULL COLLATE pg_catalog."C",
    hour timestamp(0) with time zone NOT NULL,
    size bigint NOT NULL,
    root bytea NOT NULL,
    note text NOT NULL,
    signed_at timestamp(3) with time zone NOT NULL,
    cosigned_by text[] DEFAULT '{}'::text[] NOT NULL,
    published_size bigint,
    published_note text
)
WITH (fillfactor='50');

CREATE TABLE public.log_segments (
    id bigint NOT NULL,
    organization text NOT NULL COLLATE pg_catalog."C",
    leaves bytea NOT NULL,
    mac bytea,
    refused boolean DEFAULT false NOT NULL
);
ALTER TABLE ONLY public.log_segments ALTER COLUMN leaves SET STORAGE EXTERNAL;

ALTER TABLE public.log_segments ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.log_segments_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.log_tails (
    organization text NOT NULL COLLATE pg_catalog."C",
    first_index bigint NOT NULL,
    leaves bytea NOT NULL
);
ALTER TABLE ONLY public.log_tails ALTER COLUMN leaves SET STORAGE EXTERNAL;

CREATE TABLE public.log_tiles (
    organization text NOT NULL COLLATE pg_catalog."C",
    level smallint NOT NULL,
    index bigint NOT NULL,
    content bytea NOT NULL,
    first_id uuid,
    last_id uuid
);
ALTER TABLE ONLY public.log_tiles ALTER COLUMN content SET STORAGE EXTERNAL;

CREATE TABLE public.log_trees (
    organization text NOT NULL COLLATE pg_catalog."C",
    size bigint NOT NULL,
    frontier bytea NOT NULL,
    mac bytea,
    refused boolean DEFAULT false NOT NULL
)
WITH (fillfactor='50');

CREATE TABLE public.moved_organizations (
    organization text NOT NULL COLLATE pg_catalog."C",
    target text NOT NULL,
    under_way boolean DEFAULT false NOT NULL,
    closed boolean DEFAULT false NOT NULL,
    copied boolean DEFAULT false NOT NULL
);

CREATE TABLE public.organization_databases (
    organization text NOT NULL COLLATE pg_catalog."C",
    database text NOT NULL,
    since timestamp(3) with time zone DEFAULT now() NOT NULL,
    stream_since text
);

CREATE TABLE public.record_gaps (
    from_at timestamp(3) with time zone NOT NULL,
    until_at timestamp(3) with time zone NOT NULL,
    reason text NOT NULL
);

CREATE TABLE public.retention_approvals (
    before date NOT NULL,
    approved_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    approved_by text DEFAULT SESSION_USER NOT NULL
);

CREATE TABLE public.rewritten_events (
    organization text NOT NULL COLLATE pg_catalog."C",
    created_at timestamp(3) with time zone NOT NULL,
    id uuid NOT NULL,
    stored_by xid8 NOT NULL
);

CREATE TABLE public.running_executions (
    organization text NOT NULL COLLATE pg_catalog."C",
    automation_id uuid NOT NULL,
    execution_id text NOT NULL COLLATE pg_catalog."C",
    first_event_at timestamp(3) with time zone NOT NULL,
    lost_at timestamp(3) with time zone
);

CREATE TABLE public.scheduled_runs (
    organization text NOT NULL COLLATE pg_catalog."C",
    automation_id uuid NOT NULL,
    execution_id text NOT NULL COLLATE pg_catalog."C",
    scheduled_at timestamp(3) with time zone,
    recorded_at timestamp(3) with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.sessions (
    digest bytea NOT NULL,
    subject text NOT NULL,
    name text NOT NULL,
    groups text[] NOT NULL,
    token_digest text,
    organization text COLLATE pg_catalog."C",
    id_token text,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    seen_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE public.token_keeper (
    id boolean DEFAULT true NOT NULL,
    holder uuid,
    until timestamp(3) with time zone,
    problem text,
    public_key text,
    CONSTRAINT token_keeper_id_check CHECK (id)
);

CREATE TABLE public.token_requests (
    id uuid NOT NULL,
    organization text NOT NULL COLLATE pg_catalog."C",
    act text NOT NULL,
    digest text NOT NULL COLLATE pg_catalog."C",
    name text DEFAULT ''::text NOT NULL,
    kind text DEFAULT 'write'::text NOT NULL,
    last_four text DEFAULT ''::text NOT NULL,
    expires_at timestamp(3) with time zone,
    proof text,
    requested_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    done_at timestamp(3) with time zone,
    error text,
    CONSTRAINT token_requests_act_check CHECK ((act = ANY (ARRAY['issue'::text, 'expire'::text, 'revoke'::text]))),
    CONSTRAINT token_requests_digest_check CHECK ((digest ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT token_requests_kind_check CHECK ((kind = ANY (ARRAY['write'::text, 'read'::text, 'ping'::text, 'manage'::text])))
);

CREATE TABLE public.token_uses (
    token_id text NOT NULL COLLATE pg_catalog."C",
    used_on date NOT NULL
);

CREATE TABLE public.tokens (
    organization text NOT NULL COLLATE pg_catalog."C",
    digest text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    kind text NOT NULL,
    last_four text NOT NULL,
    made_by text NOT NULL,
    made_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    expires_at timestamp(3) with time zone,
    CONSTRAINT tokens_kind_check CHECK ((kind = ANY (ARRAY['write'::text, 'read'::text, 'ping'::text, 'manage'::text])))
);

ALTER TABLE ONLY public.events ATTACH PARTITION public.events_default DEFAULT;

ALTER TABLE ONLY public.executions ATTACH PARTITION public.executions_0 FOR VALUES WITH (modulus 16, remainder 0);

ALTER TABLE ONLY public.executions ATTACH PARTITION public.executions_1 FOR VALUES WITH (modulus 16, remainder 1);

ALTER TABLE ONLY public.executions ATTACH PARTITION public.executions_10 FOR VALUES WITH (modulus 16, remainder 10);

ALTER TABLE ONLY public.executions ATTACH PARTITION public.executions_11 FOR VALUES WITH (modulus 16, remainder 11);

ALTER TABLE ONLY public.executions ATTACH PARTITION public.executions_12 FOR VALUES WITH (modulus 16, remainder 12);

ALTER TABLE ONLY public.executions ATTACH PARTITION public.executions_13 FOR VALUES WITH (modulus 16, remainder 13);

ALTER TABLE ONLY public.executions ATTACH PARTITION public.executions_14 FOR VALUES WITH (modulus 16, remainder 14);

ALTER TABLE ONLY public.executions ATTACH PARTITION public.executions_15 FOR VALUES WITH (modulus 16, remainder 15);

ALTER TABLE ONLY public.executions ATTACH PARTITION public.executions_2 FOR VALUES WITH (modulus 16, remainder 2);

ALTER TABLE ONLY public.executions ATTACH PARTITION public.executions_3 FOR VALUES WITH (modulus 16, remainder 3);

ALTER TABLE ONLY public.executions ATTACH PARTITION public.executions_4 FOR VALUES WITH (modulus 16, remainder 4);

ALTER TABLE ONLY public.executions ATTACH PARTITION public.executions_5 FOR VALUES WITH (modulus 16, remainder 5);

ALTER TABLE ONLY public.executions ATTACH PARTITION public.executions_6 FOR VALUES WITH (modulus 16, remainder 6);

ALTER TABLE ONLY public.executions ATTACH PARTITION public.executions_7 FOR VALUES WITH (modulus 16, remainder 7);

ALTER TABLE ONLY public.executions ATTACH PARTITION public.executions_8 FOR VALUES WITH (modulus 16, remainder 8);

ALTER TABLE ONLY public.executions ATTACH PARTITION public.executions_9 FOR VALUES WITH (modulus 16, remainder 9);

ALTER TABLE ONLY public.access_log
    ADD CONSTRAINT access_log_pkey PRIMARY KEY (organization, at, id);

ALTER TABLE ONLY public.acts
    ADD CONSTRAINT acts_pkey PRIMARY KEY (organization, id);

ALTER TABLE ONLY public.alert_notices
    ADD CONSTRAINT alert_notices_pkey PRIMARY KEY (organization, alert_id, receiver);

ALTER TABLE ONLY public.alerts
    ADD CONSTRAINT alerts_organization_automation_id_kind_occurrence_opened_at_key UNIQUE (organization, automation_id, kind, occurrence, opened_at);

ALTER TABLE ONLY public.alerts
    ADD CONSTRAINT alerts_pkey PRIMARY KEY (organization, id);

ALTER TABLE ONLY public.automations
    ADD CONSTRAINT automations_pkey PRIMARY KEY (organization, automation_id);

ALTER TABLE ONLY public.captured_jobs
    ADD CONSTRAINT captured_jobs_pkey PRIMARY KEY (uid);

ALTER TABLE ONLY public.channel_keys
    ADD CONSTRAINT channel_keys_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.channels
    ADD CONSTRAINT channels_pkey PRIMARY KEY (organization, namespace, name);

ALTER TABLE ONLY public.cold_days
    ADD CONSTRAINT cold_days_pkey PRIMARY KEY (organization, day, object);

ALTER TABLE ONLY public.compacted_executions
    ADD CONSTRAINT compacted_executions_pkey PRIMARY KEY (organization, id);

ALTER TABLE ONLY public.compacted_keys
    ADD CONSTRAINT compacted_keys_pkey PRIMARY KEY (organization, key, block);

ALTER TABLE ONLY public.console_automations
    ADD CONSTRAINT console_automations_pkey PRIMARY KEY (organization, automation_id);

ALTER TABLE ONLY public.console_channels
    ADD CONSTRAINT console_channels_pkey PRIMARY KEY (organization, name);

ALTER TABLE ONLY public.console_keys
    ADD CONSTRAINT console_keys_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.controller_state
    ADD CONSTRAINT controller_state_pkey PRIMARY KEY (only_row);

ALTER TABLE ONLY public.dead_letters
    ADD CONSTRAINT dead_letters_pkey PRIMARY KEY (organization, id);

ALTER TABLE ONLY public.deliveries
    ADD CONSTRAINT deliveries_pkey PRIMARY KEY (organization, id);

ALTER TABLE ONLY public.erasures
    ADD CONSTRAINT erasures_pkey PRIMARY KEY (organization, id);

ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (organization, created_at, id);

ALTER TABLE ONLY public.events_default
    ADD CONSTRAINT events_default_pkey PRIMARY KEY (organization, created_at, id);

ALTER TABLE ONLY public.executions
    ADD CONSTRAINT executions_pkey PRIMARY KEY (organization, automation_id, execution_id);

ALTER TABLE ONLY public.executions_0
    ADD CONSTRAINT executions_0_pkey PRIMARY KEY (organization, automation_id, execution_id);

ALTER TABLE ONLY public.executions_10
    ADD CONSTRAINT executions_10_pkey PRIMARY KEY (organization, automation_id, execution_id);

ALTER TABLE ONLY public.executions_11
    ADD CONSTRAINT executions_11_pkey PRIMARY KEY (organization, automation_id, execution_id);

ALTER TABLE ONLY public.executions_12
    ADD CONSTRAINT executions_12_pkey PRIMARY KEY (organization, automation_id, execution_id);

ALTER TABLE ONLY public.executions_13
    ADD CONSTRAINT executions_13_pkey PRIMARY KEY (organization, automation_id, execution_id);

ALTER TABLE ONLY public.executions_14
    ADD CONSTRAINT executions_14_pkey PRIMARY KEY (organization, automation_id, execution_id);

ALTER TABLE ONLY public.executions_15
    ADD CONSTRAINT executions_15_pkey PRIMARY KEY (organization, automation_id, execution_id);

ALTER TABLE ONLY public.executions_1
    ADD CONSTRAINT executions_1_pkey PRIMARY KEY (organization, automation_id, execution_id);

ALTER TABLE ONLY public.executions_2
    ADD CONSTRAINT executions_2_pkey PRIMARY KEY (organization, automation_id, execution_id);

ALTER TABLE ONLY public.executions_3
    ADD CONSTRAINT executions_3_pkey PRIMARY KEY (organization, automation_id, execution_id);

ALTER TABLE ONLY public.executions_4
    ADD CONSTRAINT executions_4_pkey PRIMARY KEY (organization, automation_id, execution_id);

ALTER TABLE ONLY public.executions_5
    ADD CONSTRAINT executions_5_pkey PRIMARY KEY (organization, automation_id, execution_id);

ALTER TABLE ONLY public.executions_6
    ADD CONSTRAINT executions_6_pkey PRIMARY KEY (organization, automation_id, execution_id);

ALTER TABLE ONLY public.executions_7
    ADD CONSTRAINT executions_7_pkey PRIMARY KEY (organization, automation_id, execution_id);

ALTER TABLE ONLY public.executions_8
    ADD CONSTRAINT executions_8_pkey PRIMARY KEY (organization, automation_id, execution_id);

ALTER TABLE ONLY public.executions_9
    ADD CONSTRAINT executions_9_pkey PRIMARY KEY (organization, automation_id, execution_id);

ALTER TABLE ONLY public.known_organizations
    ADD CONSTRAINT known_organizations_pkey PRIMARY KEY (organization);

ALTER TABLE ONLY public.kysely_migration_lock
    ADD CONSTRAINT kysely_migration_lock_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.kysely_migration
    ADD CONSTRAINT kysely_migration_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.log_acts
    ADD CONSTRAINT log_acts_pkey PRIMARY KEY (organization, id);

ALTER TABLE ONLY public.log_checkpoints
    ADD CONSTRAINT log_checkpoints_pkey PRIMARY KEY (organization, hour);

ALTER TABLE ONLY public.log_segments
    ADD CONSTRAINT log_segments_pkey PRIMARY KEY (organization, id);

ALTER TABLE ONLY public.log_tails
    ADD CONSTRAINT log_tails_pkey PRIMARY KEY (organization, first_index);

ALTER TABLE ONLY public.log_tiles
    ADD CONSTRAINT log_tiles_pkey PRIMARY KEY (organization, level, index);

ALTER TABLE ONLY public.log_trees
    ADD CONSTRAINT log_trees_pkey PRIMARY KEY (organization);

ALTER TABLE ONLY public.moved_organizations
    ADD CONSTRAINT moved_organizations_pkey PRIMARY KEY (organization);

ALTER TABLE ONLY public.organization_databases
    ADD CONSTRAINT organization_databases_pkey PRIMARY KEY (organization);

ALTER TABLE ONLY public.record_gaps
    ADD CONSTRAINT record_gaps_pkey PRIMARY KEY (from_at);

ALTER TABLE ONLY public.retention_approvals
    ADD CONSTRAINT retention_approvals_pkey PRIMARY KEY (before, approved_at, approved_by);

ALTER TABLE ONLY public.rewritten_events
    ADD CONSTRAINT rewritten_events_pkey PRIMARY KEY (organization, created_at, id);

ALTER TABLE ONLY public.running_executions
    ADD CONSTRAINT running_executions_pkey PRIMARY KEY (organization, automation_id, execution_id);

ALTER TABLE ONLY public.scheduled_runs
    ADD CONSTRAINT scheduled_runs_pkey PRIMARY KEY (organization, automation_id, execution_id);

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (digest);

ALTER TABLE ONLY public.token_keeper
    ADD CONSTRAINT token_keeper_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.token_requests
    ADD CONSTRAINT token_requests_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.token_uses
    ADD CONSTRAINT token_uses_pkey PRIMARY KEY (token_id);

ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_pkey PRIMARY KEY (organization, digest);

CREATE INDEX acts_about ON public.acts USING btree (organization, about) WHERE (about IS NOT NULL);

CREATE INDEX acts_mutes ON public.acts USING btree (organization, made_at) WHERE (kind = ANY (ARRAY['mute'::text, 'unmute'::text]));

CREATE INDEX acts_of_automation ON public.acts USING btree (organization, automation_id, made_at) WHERE (automation_id IS NOT NULL);

CREATE INDEX acts_open ON public.acts USING btree (organization, made_at) WHERE (recorded_at IS NULL);

CREATE INDEX alert_notices_known ON public.alert_notices USING btree (receiver, alert_id) WHERE (known_as <> '[]'::jsonb);

CREATE INDEX alerts_kept_back ON public.alerts USING btree (organization, automation_id) WHERE (kept_back IS NOT NULL);

CREATE INDEX alerts_newest ON public.alerts USING btree (organization, opened_at, id);

CREATE INDEX alerts_of_id ON public.alerts USING btree (id);

CREATE INDEX alerts_open ON public.alerts USING btree (organization, automation_id) WHERE (resolved_at IS NULL);

CREATE INDEX alerts_resolved ON public.alerts USING btree (resolved_at);

CREATE INDEX compacted_executions_newest ON public.compacted_executions USING btree (organization, newest) INCLUDE (oldest);

CREATE INDEX compacted_executions_of_automation ON public.compacted_executions USING btree (organization, automation_id, newest) INCLUDE (oldest);

CREATE INDEX compacted_executions_with_anomalies ON public.compacted_executions USING btree (organization, newest) WHERE (anomalies > 0);

CREATE INDEX compacted_executions_with_failures ON public.compacted_executions USING btree (organization, newest) WHERE (failures > 0);

CREATE INDEX compacted_executions_with_failures_of_automation ON public.compacted_executions USING btree (organization, automation_id, newest) WHERE (failures > 0);

CREATE INDEX deliveries_in_order ON public.deliveries USING btree (organization, automation_id, channel_namespace, channel_name, sequence) WHERE ((delivered_at IS NULL) AND (given_up_at IS NULL));

CREATE INDEX deliveries_newest ON public.deliveries USING btree (organization, created_at, id);

CREATE INDEX deliveries_of_channel ON public.deliveries USING btree (organization, channel_namespace, channel_name, next_attempt_at, sequence) WHERE ((delivered_at IS NULL) AND (given_up_at IS NULL));

CREATE INDEX deliveries_of_id ON public.deliveries USING btree (id);

CREATE INDEX deliveries_over ON public.deliveries USING btree (COALESCE(delivered_at, given_up_at)) WHERE ((delivered_at IS NOT NULL) OR (given_up_at IS NOT NULL));

CREATE INDEX deliveries_to_alertmanager ON public.deliveries USING btree (id) WHERE ((delivered_at IS NULL) AND (given_up_at IS NULL) AND (channel_namespace = 'runledger.alertmanager'::text));

CREATE INDEX deliveries_waiting ON public.deliveries USING btree (created_at) WHERE ((delivered_at IS NULL) AND (given_up_at IS NULL));

CREATE INDEX events_of_execution ON ONLY public.events USING btree (automation_id, execution_id, organization);

CREATE INDEX events_default_automation_id_execution_id_organization_idx ON public.events_default USING btree (automation_id, execution_id, organization);

CREATE INDEX events_errors ON ONLY public.events USING btree (organization, created_at, id) WHERE (kind = 'ERROR'::text);

CREATE INDEX events_default_errors ON public.events_default USING btree (organization, created_at, id) WHERE (kind = 'ERROR'::text);

CREATE INDEX events_errors_occurred ON ONLY public.events USING btree (organization, occurred_at, id) WHERE ((kind = 'ERROR'::text) AND (occurred_at IS NOT NULL));

CREATE INDEX events_default_errors_occurred ON public.events_default USING btree (organization, occurred_at, id) WHERE ((kind = 'ERROR'::text) AND (occurred_at IS NOT NULL));

CREATE INDEX events_of_automation ON ONLY public.events USING btree (automation_id, organization, created_at);

CREATE INDEX events_default_of_automation ON public.events_default USING btree (automation_id, organization, created_at);

CREATE INDEX events_warnings ON ONLY public.events USING btree (organization, created_at, id) WHERE (kind = 'WARNING'::text);

CREATE INDEX events_default_warnings ON public.events_default USING btree (organization, created_at, id) WHERE (kind = 'WARNING'::text);

CREATE INDEX executions_newest ON ONLY public.executions USING btree (organization, first_event_at);

CREATE INDEX executions_0_newest ON public.executions_0 USING btree (organization, first_event_at);

CREATE INDEX executions_of_automation ON ONLY public.executions USING btree (organization, automation_id, first_event_at);

CREATE INDEX executions_0_of_automation ON public.executions_0 USING btree (organization, automation_id, first_event_at);

CREATE INDEX executions_with_anomaly ON ONLY public.executions USING btree (organization, first_event_at) WHERE (start_missing OR start_repeated OR start_late OR event_after_end);

CREATE INDEX executions_0_with_anomaly ON public.executions_0 USING btree (organization, first_event_at) WHERE (start_missing OR start_repeated OR start_late OR event_after_end);

CREATE INDEX executions_with_error ON ONLY public.executions USING btree (organization, first_event_at) WHERE (failed_at IS NOT NULL);

CREATE INDEX executions_0_with_error ON public.executions_0 USING btree (organization, first_event_at) WHERE (failed_at IS NOT NULL);

CREATE INDEX executions_with_error_of_automation ON ONLY public.executions USING btree (organization, automation_id, first_event_at) WHERE (failed_at IS NOT NULL);

CREATE INDEX executions_0_with_error_of_automation ON public.executions_0 USING btree (organization, automation_id, first_event_at) WHERE (failed_at IS NOT NULL);

CREATE INDEX executions_10_newest ON public.executions_10 USING btree (organization, first_event_at);

CREATE INDEX executions_10_of_automation ON public.executions_10 USING btree (organization, automation_id, first_event_at);

CREATE INDEX executions_10_with_anomaly ON public.executions_10 USING btree (organization, first_event_at) WHERE (start_missing OR start_repeated OR start_late OR event_after_end);

CREATE INDEX executions_10_with_error ON public.executions_10 USING btree (organization, first_event_at) WHERE (failed_at IS NOT NULL);

CREATE INDEX executions_10_with_error_of_automation ON public.executions_10 USING btree (organization, automation_id, first_event_at) WHERE (failed_at IS NOT NULL);

CREATE INDEX executions_11_newest ON public.executions_11 USING btree (organization, first_event_at);

CREATE INDEX executions_11_of_automation ON public.executions_11 USING btree (organization, automation_id, first_event_at);

CREATE INDEX executions_11_with_anomaly ON public.executions_11 USING btree (organization, first_event_at) WHERE (start_missing OR start_repeated OR start_late OR event_after_end);

CREATE INDEX executions_11_with_error ON public.executions_11 USING btree (organization, first_event_at) WHERE (failed_at IS NOT NULL);

CREATE INDEX executions_11_with_error_of_automation ON public.executions_11 USING btree (organization, automation_id, first_event_at) WHERE (failed_at IS NOT NULL);

CREATE INDEX executions_12_newest ON public.executions_12 USING btree (organization, first_event_at);

CREATE INDEX executions_12_of_automation ON public.executions_12 USING btree (organization, automation_id, first_event_at);

CREATE INDEX executions_12_with_anomaly ON public.executions_12 USING btree (organization, first_event_at) WHERE (start_missing OR start_repeated OR start_late OR event_after_end);

CREATE INDEX executions_12_with_error ON public.executions_12 USING btree (organization, first_event_at) WHERE (failed_at IS NOT NULL);

CREATE INDEX executions_12_with_error_of_automation ON public.executions_12 USING btree (organization, automation_id, first_event_at) WHERE (failed_at IS NOT NULL);

CREATE INDEX executions_13_newest ON public.executions_13 USING btree (organization, first_event_at);

CREATE INDEX executions_13_of_automation ON public.executions_13 USING btree (organization, automation_id, first_event_at);

CREATE INDEX executions_13_with_anomaly ON public.executions_13 USING btree (organization, first_event_at) WHERE (start_missing OR start_repeated OR start_late OR event_after_end);

CREATE INDEX executions_13_with_error ON public.executions_13 USING btree (organization, first_event_at) WHERE (failed_at IS NOT NULL);

CREATE INDEX executions_13_with_error_of_automation ON public.executions_13 USING btree (organization, automation_id, first_event_at) WHERE (failed_at IS NOT NULL);

CREATE INDEX executions_14_newest ON public.executions_14 USING btree (organization, first_event_at);

CREATE INDEX executions_14_of_automation ON public.executions_14 USING btree (organization, automation_id, first_event_at);

CREATE INDEX executions_14_with_anomaly ON public.executions_14 USING btree (organization, first_event_at) WHERE (start_missing OR start_repeated OR start_late OR event_after_end);

CREATE INDEX executions_14_with_error ON public.executions_14 USING btree (organization, first_event_at) WHERE (failed_at IS NOT NULL);

CREATE INDEX executions_14_with_error_of_automation ON public.executions_14 USING btree (organization, automation_id, first_event_at) WHERE (failed_at IS NOT NULL);

CREATE INDEX executions_15_newest ON public.executions_15 USING btree (organization, first_event_at);

CREATE INDEX executions_15_of_automation ON public.executions_15 USING btree (organization, automation_id, first_event_at);

CREATE INDEX executions_15_with_anomaly ON public.executions_15 USING btree (organization, first_event_at) WHERE (start_missing OR start_repeated OR start_late OR event_after_end);

CREATE INDEX executions_15_with_error ON public.executions_15 USING btree (organization, first_event_at) WHERE (failed_at IS NOT NULL);

CREATE INDEX executions_15_with_error_of_automation ON public.executions_15 USING btree (organization, automation_id, first_event_at) WHERE (failed_at IS NOT NULL);

CREATE INDEX executions_1_newest ON public.executions_1 USING btree (organization, first_event_at);

CREATE INDEX executions_1_of_automation ON public.executions_1 USING btree (organization, automation_id, first_event_at);

CREATE INDEX executions_1_with_anomaly ON public.executions_1 USING btree (organization, first_event_at) WHERE (start_missing OR start_repeated OR start_late OR event_after_end);

CREATE INDEX executions_1_with_error ON public.executions_1 USING btree (organization, first_event_at) WHERE (failed_at IS NOT NULL);

CREATE INDEX executions_1_with_error_of_automation ON public.executions_1 USING btree (organization, automation_id, first_event_at) WHERE (failed_at IS NOT NULL);

CREATE INDEX executions_2_newest ON public.executions_2 USING btree (organization, first_event_at);

CREATE INDEX executions_2_of_automation ON public.executions_2 USING btree (organization, automation_id, first_event_at);

CREATE INDEX executions_2_with_anomaly ON public.executions_2 USING btree (organization, first_event_at) WHERE (start_missing OR start_repeated OR start_late OR event_after_end);

CREATE INDEX executions_2_with_error ON public.executions_2 USING btree (organization, first_event_at) WHERE (failed_at IS NOT NULL);

CREATE INDEX executions_2_with_error_of_automation ON public.executions_2 USING btree (organization, automation_id, first_event_at) WHERE (failed_at IS NOT NULL);

CREATE INDEX executions_3_newest ON public.executions_3 USING btree (organization, first_event_at);

CREATE INDEX executions_3_of_automation ON public.executions_3 USING btree (organization, automation_id, first_event_at);

CREATE INDEX executions_3_with_anomaly ON public.executions_3 USING btree (organization, first_event_at) WHERE (start_missing OR start_repeated OR start_late OR event_after_end);

CREATE INDEX executions_3_with_error ON public.executions_3 USING btree (organization, first_event_at) WHERE (failed_at IS NOT NULL);

CREATE INDEX executions_3_with_error_of_automation ON public.executions_3 USING btree (organization, automation_id, first_event_at) WHERE (failed_at IS NOT NULL);

CREATE INDEX executions_4_newest ON public.executions_4 USING btree (organization, first_event_at);

CREATE INDEX executions_4_of_automation ON public.executions_4 USING btree (organization, automation_id, first_event_at);

CREATE INDEX executions_4_with_anomaly ON public.executions_4 USING btree (organization, first_event_at) WHERE (start_missing OR start_repeated OR start_late OR event_after_end);

CREATE INDEX executions_4_with_error ON public.executions_4 USING btree (organization, first_event_at) WHERE (failed_at IS NOT NULL);

CREATE INDEX executions_4_with_error_of_automation ON public.executions_4 USING btree (organization, automation_id, first_event_at) WHERE (failed_at IS NOT NULL);

CREATE INDEX executions_5_newest ON public.executions_5 USING btree (organization, first_event_at);

CREATE INDEX executions_5_of_automation ON public.executions_5 USING btree (organization, automation_id, first_event_at);

CREATE INDEX executions_5_with_anomaly ON public.executions_5 USING btree (organization, first_event_at) WHERE (start_missing OR start_repeated OR start_late OR event_after_end);

CREATE INDEX executions_5_with_error ON public.executions_5 USING btree (organization, first_event_at) WHERE (failed_at IS NOT NULL);

CREATE INDEX executions_5_with_error_of_automation ON public.executions_5 USING btree (organization, automation_id, first_event_at) WHERE (failed_at IS NOT NULL);

CREATE INDEX executions_6_newest ON public.executions_6 USING btree (organization, first_event_at);

CREATE INDEX executions_6_of_automation ON public.executions_6 USING btree (organization, automation_id, first_event_at);

CREATE INDEX executions_6_with_anomaly ON public.executions_6 USING btree (organization, first_event_at) WHERE (start_missing OR start_repeated OR start_late OR event_after_end);

CREATE INDEX executions_6_with_error ON public.executions_6 USING btree (organization, first_event_at) WHERE (failed_at IS NOT NULL);

CREATE INDEX executions_6_with_error_of_automation ON public.executions_6 USING btree (organization, automation_id, first_event_at) WHERE (failed_at IS NOT NULL);

CREATE INDEX executions_7_newest ON public.executions_7 USING btree (organization, first_event_at);

CREATE INDEX executions_7_of_automation ON public.executions_7 USING btree (organization, automation_id, first_event_at);

CREATE INDEX executions_7_with_anomaly ON public.executions_7 USING btree (organization, first_event_at) WHERE (start_missing OR start_repeated OR start_late OR event_after_end);

CREATE INDEX executions_7_with_error ON public.executions_7 USING btree (organization, first_event_at) WHERE (failed_at IS NOT NULL);

CREATE INDEX executions_7_with_error_of_automation ON public.executions_7 USING btree (organization, automation_id, first_event_at) WHERE (failed_at IS NOT NULL);

CREATE INDEX executions_8_newest ON public.executions_8 USING btree (organization, first_event_at);

CREATE INDEX executions_8_of_automation ON public.executions_8 USING btree (organization, automation_id, first_event_at);

CREATE INDEX executions_8_with_anomaly ON public.executions_8 USING btree (organization, first_event_at) WHERE (start_missing OR start_repeated OR start_late OR event_after_end);

CREATE INDEX executions_8_with_error ON public.executions_8 USING btree (organization, first_event_at) WHERE (failed_at IS NOT NULL);

CREATE INDEX executions_8_with_error_of_automation ON public.executions_8 USING btree (organization, automation_id, first_event_at) WHERE (failed_at IS NOT NULL);

CREATE INDEX executions_9_newest ON public.executions_9 USING btree (organization, first_event_at);

CREATE INDEX executions_9_of_automation ON public.executions_9 USING btree (organization, automation_id, first_event_at);

CREATE INDEX executions_9_with_anomaly ON public.executions_9 USING btree (organization, first_event_at) WHERE (start_missing OR start_repeated OR start_late OR event_after_end);

CREATE INDEX executions_9_with_error ON public.executions_9 USING btree (organization, first_event_at) WHERE (failed_at IS NOT NULL);

CREATE INDEX executions_9_with_error_of_automation ON public.executions_9 USING btree (organization, automation_id, first_event_at) WHERE (failed_at IS NOT NULL);

CREATE INDEX log_segments_oldest ON public.log_segments USING btree (id);

CREATE INDEX log_tiles_of_ids ON public.log_tiles USING btree (organization, last_id, first_id) WHERE (level = 0);

CREATE INDEX record_gaps_until ON public.record_gaps USING btree (until_at);

CREATE INDEX running_executions_lost ON public.running_executions USING btree (organization, first_event_at) WHERE (lost_at IS NOT NULL);

CREATE INDEX running_executions_newest ON public.running_executions USING btree (organization, first_event_at);

CREATE INDEX scheduled_runs_oldest ON public.scheduled_runs USING btree (recorded_at);

CREATE INDEX sessions_of_subject ON public.sessions USING btree (subject);

CREATE INDEX token_requests_newest ON public.token_requests USING btree (organization, requested_at);

CREATE INDEX token_requests_open ON public.token_requests USING btree (requested_at) WHERE (done_at IS NULL);

CREATE INDEX tokens_expiring ON public.tokens USING btree (expires_at) WHERE (expires_at IS NOT NULL);

ALTER INDEX public.events_of_execution ATTACH PARTITION public.events_default_automation_id_execution_id_organization_idx;

ALTER INDEX public.events_errors ATTACH PARTITION public.events_default_errors;

ALTER INDEX public.events_errors_occurred ATTACH PARTITION public.events_default_errors_occurred;

ALTER INDEX public.events_of_automation ATTACH PARTITION public.events_default_of_automation;

ALTER INDEX public.events_pkey ATTACH PARTITION public.events_default_pkey;

ALTER INDEX public.events_warnings ATTACH PARTITION public.events_default_warnings;

ALTER INDEX public.executions_newest ATTACH PARTITION public.executions_0_newest;

ALTER INDEX public.executions_of_automation ATTACH PARTITION public.executions_0_of_automation;

ALTER INDEX public.executions_pkey ATTACH PARTITION public.executions_0_pkey;

ALTER INDEX public.executions_with_anomaly ATTACH PARTITION public.executions_0_with_anomaly;

ALTER INDEX public.executions_with_error ATTACH PARTITION public.executions_0_with_error;

ALTER INDEX public.executions_with_error_of_automation ATTACH PARTITION public.executions_0_with_error_of_automation;

ALTER INDEX public.executions_newest ATTACH PARTITION public.executions_10_newest;

ALTER INDEX public.executions_of_automation ATTACH PARTITION public.executions_10_of_automation;

ALTER INDEX public.executions_pkey ATTACH PARTITION public.executions_10_pkey;

ALTER INDEX public.executions_with_anomaly ATTACH PARTITION public.executions_10_with_anomaly;

ALTER INDEX public.executions_with_error ATTACH PARTITION public.executions_10_with_error;

ALTER INDEX public.executions_with_error_of_automation ATTACH PARTITION public.executions_10_with_error_of_automation;

ALTER INDEX public.executions_newest ATTACH PARTITION public.executions_11_newest;

ALTER INDEX public.executions_of_automation ATTACH PARTITION public.executions_11_of_automation;

ALTER INDEX public.executions_pkey ATTACH PARTITION public.executions_11_pkey;

ALTER INDEX public.executions_with_anomaly ATTACH PARTITION public.executions_11_with_anomaly;

ALTER INDEX public.executions_with_error ATTACH PARTITION public.executions_11_with_error;

ALTER INDEX public.executions_with_error_of_automation ATTACH PARTITION public.executions_11_with_error_of_automation;

ALTER INDEX public.executions_newest ATTACH PARTITION public.executions_12_newest;

ALTER INDEX public.executions_of_automation ATTACH PARTITION public.executions_12_of_automation;

ALTER INDEX public.executions_pkey ATTACH PARTITION public.executions_12_pkey;

ALTER INDEX public.executions_with_anomaly ATTACH PARTITION public.executions_12_with_anomaly;

ALTER INDEX public.executions_with_error ATTACH PARTITION public.executions_12_with_error;

ALTER INDEX public.executions_with_error_of_automation ATTACH PARTITION public.executions_12_with_error_of_automation;

ALTER INDEX public.executions_newest ATTACH PARTITION public.executions_13_newest;

ALTER INDEX public.executions_of_automation ATTACH PARTITION public.executions_13_of_automation;

ALTER INDEX public.executions_pkey ATTACH PARTITION public.executions_13_pkey;

ALTER INDEX public.executions_with_anomaly ATTACH PARTITION public.executions_13_with_anomaly;

ALTER INDEX public.executions_with_error ATTACH PARTITION public.executions_13_with_error;

ALTER INDEX public.executions_with_error_of_automation ATTACH PARTITION public.executions_13_with_error_of_automation;

ALTER INDEX public.executions_newest ATTACH PARTITION public.executions_14_newest;

ALTER INDEX public.executions_of_automation ATTACH PARTITION public.executions_14_of_automation;

ALTER INDEX public.executions_pkey ATTACH PARTITION public.executions_14_pkey;

ALTER INDEX public.executions_with_anomaly ATTACH PARTITION public.executions_14_with_anomaly;

ALTER INDEX public.executions_with_error ATTACH PARTITION public.executions_14_with_error;

ALTER INDEX public.executions_with_error_of_automation ATTACH PARTITION public.executions_14_with_error_of_automation;

ALTER INDEX public.executions_newest ATTACH PARTITION public.executions_15_newest;

ALTER INDEX public.executions_of_automation ATTACH PARTITION public.executions_15_of_automation;

ALTER INDEX public.executions_pkey ATTACH PARTITION public.executions_15_pkey;

ALTER INDEX public.executions_with_anomaly ATTACH PARTITION public.executions_15_with_anomaly;

ALTER INDEX public.executions_with_error ATTACH PARTITION public.executions_15_with_error;

ALTER INDEX public.executions_with_error_of_automation ATTACH PARTITION public.executions_15_with_error_of_automation;

ALTER INDEX public.executions_newest ATTACH PARTITION public.executions_1_newest;

ALTER INDEX public.executions_of_automation ATTACH PARTITION public.executions_1_of_automation;

ALTER INDEX public.executions_pkey ATTACH PARTITION public.executions_1_pkey;

ALTER INDEX public.executions_with_anomaly ATTACH PARTITION public.executions_1_with_anomaly;

ALTER INDEX public.executions_with_error ATTACH PARTITION public.executions_1_with_error;

ALTER INDEX public.executions_with_error_of_automation ATTACH PARTITION public.executions_1_with_error_of_automation;

ALTER INDEX public.executions_newest ATTACH PARTITION public.executions_2_newest;

ALTER INDEX public.executions_of_automation ATTACH PARTITION public.executions_2_of_automation;

ALTER INDEX public.executions_pkey ATTACH PARTITION public.executions_2_pkey;

ALTER INDEX public.executions_with_anomaly ATTACH PARTITION public.executions_2_with_anomaly;

ALTER INDEX public.executions_with_error ATTACH PARTITION public.executions_2_with_error;

ALTER INDEX public.executions_with_error_of_automation ATTACH PARTITION public.executions_2_with_error_of_automation;

ALTER INDEX public.executions_newest ATTACH PARTITION public.executions_3_newest;

ALTER INDEX public.executions_of_automation ATTACH PARTITION public.executions_3_of_automation;

ALTER INDEX public.executions_pkey ATTACH PARTITION public.executions_3_pkey;

ALTER INDEX public.executions_with_anomaly ATTACH PARTITION public.executions_3_with_anomaly;

ALTER INDEX public.executions_with_error ATTACH PARTITION public.executions_3_with_error;

ALTER INDEX public.executions_with_error_of_automation ATTACH PARTITION public.executions_3_with_error_of_automation;

ALTER INDEX public.executions_newest ATTACH PARTITION public.executions_4_newest;

ALTER INDEX public.executions_of_automation ATTACH PARTITION public.executions_4_of_automation;

ALTER INDEX public.executions_pkey ATTACH PARTITION public.executions_4_pkey;

ALTER INDEX public.executions_with_anomaly ATTACH PARTITION public.executions_4_with_anomaly;

ALTER INDEX public.executions_with_error ATTACH PARTITION public.executions_4_with_error;

ALTER INDEX public.executions_with_error_of_automation ATTACH PARTITION public.executions_4_with_error_of_automation;

ALTER INDEX public.executions_newest ATTACH PARTITION public.executions_5_newest;

ALTER INDEX public.executions_of_automation ATTACH PARTITION public.executions_5_of_automation;

ALTER INDEX public.executions_pkey ATTACH PARTITION public.executions_5_pkey;

ALTER INDEX public.executions_with_anomaly ATTACH PARTITION public.executions_5_with_anomaly;

ALTER INDEX public.executions_with_error ATTACH PARTITION public.executions_5_with_error;

ALTER INDEX public.executions_with_error_of_automation ATTACH PARTITION public.executions_5_with_error_of_automation;

ALTER INDEX public.executions_newest ATTACH PARTITION public.executions_6_newest;

ALTER INDEX public.executions_of_automation ATTACH PARTITION public.executions_6_of_automation;

ALTER INDEX public.executions_pkey ATTACH PARTITION public.executions_6_pkey;

ALTER INDEX public.executions_with_anomaly ATTACH PARTITION public.executions_6_with_anomaly;

ALTER INDEX public.executions_with_error ATTACH PARTITION public.executions_6_with_error;

ALTER INDEX public.executions_with_error_of_automation ATTACH PARTITION public.executions_6_with_error_of_automation;

ALTER INDEX public.executions_newest ATTACH PARTITION public.executions_7_newest;

ALTER INDEX public.executions_of_automation ATTACH PARTITION public.executions_7_of_automation;

ALTER INDEX public.executions_pkey ATTACH PARTITION public.executions_7_pkey;

ALTER INDEX public.executions_with_anomaly ATTACH PARTITION public.executions_7_with_anomaly;

ALTER INDEX public.executions_with_error ATTACH PARTITION public.executions_7_with_error;

ALTER INDEX public.executions_with_error_of_automation ATTACH PARTITION public.executions_7_with_error_of_automation;

ALTER INDEX public.executions_newest ATTACH PARTITION public.executions_8_newest;

ALTER INDEX public.executions_of_automation ATTACH PARTITION public.executions_8_of_automation;

ALTER INDEX public.executions_pkey ATTACH PARTITION public.executions_8_pkey;

ALTER INDEX public.executions_with_anomaly ATTACH PARTITION public.executions_8_with_anomaly;

ALTER INDEX public.executions_with_error ATTACH PARTITION public.executions_8_with_error;

ALTER INDEX public.executions_with_error_of_automation ATTACH PARTITION public.executions_8_with_error_of_automation;

ALTER INDEX public.executions_newest ATTACH PARTITION public.executions_9_newest;

ALTER INDEX public.executions_of_automation ATTACH PARTITION public.executions_9_of_automation;

ALTER INDEX public.executions_pkey ATTACH PARTITION public.executions_9_pkey;

ALTER INDEX public.executions_with_anomaly ATTACH PARTITION public.executions_9_with_anomaly;

ALTER INDEX public.executions_with_error ATTACH PARTITION public.executions_9_with_error;

ALTER INDEX public.executions_with_error_of_automation ATTACH PARTITION public.executions_9_with_error_of_automation;

CREATE TRIGGER access_log_only_grows BEFORE DELETE OR UPDATE OR TRUNCATE ON public.access_log FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_change();

ALTER TABLE ONLY public.alert_notices
    ADD CONSTRAINT alert_notices_organization_alert_id_fkey FOREIGN KEY (organization, alert_id) REFERENCES public.alerts(organization, id) ON DELETE CASCADE;

ALTER TABLE public.access_log ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.acts ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.alert_notices ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.alerts ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.automations ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.channels ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.cold_days ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.compacted_executions ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.compacted_keys ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.console_automations ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.console_channels ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.deliveries ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.events ENABLE ROW LEVEL SECURITY;

CREATE POLICY everybody ON public.access_log USING ((NOT COALESCE(pg_has_role((to_regrole('runledger_reader'::text))::oid, 'USAGE'::text), false))) WITH CHECK ((NOT COALESCE(pg_has_role((to_regrole('runledger_reader'::text))::oid, 'USAGE'::text), false)));

CREATE POLICY everybody ON public.acts USING ((NOT COALESCE(pg_has_role((to_regrole('runledger_reader'::text))::oid, 'USAGE'::text), false))) WITH CHECK ((NOT COALESCE(pg_has_role((to_regrole('runledger_reader'::text))::oid, 'USAGE'::text), false)));

CREATE POLICY everybody ON public.alert_notices USING ((NOT COALESCE(pg_has_role((to_regrole('runledger_reader'::text))::oid, 'USAGE'::text), false))) WITH CHECK ((NOT COALESCE(pg_has_role((to_regrole('runledger_reader'::text))::oid, 'USAGE'::text), false)));

CREATE POLICY everybody ON public.alerts USING ((NOT COALESCE(pg_has_role((to_regrole('runledger_reader'::text))::oid, 'USAGE'::text), false))) WITH CHECK ((NOT COALESCE(pg_has_role((to_regrole('runledger_reader'::text))::oid, 'USAGE'::text), false)));

CREATE POLICY everybody ON public.automations USING ((NOT COALESCE(pg_has_role((to_regrole('runledger_reader'::text))::oid, 'USAGE'::text), false))) WITH CHECK ((NOT COALESCE(pg_has_role((to_regrole('runledger_reader'::text))::oid, 'USAGE'::text), false)));

CREATE POLICY everybody ON public.channels USING ((NOT COALESCE(pg_has_role((to_regrole('runledger_reader'::text))::oid, 'USAGE'::text), false))) WITH CHECK ((NOT COALESCE(pg_has_role((to_regrole('runledger_reader'::text))::oid, 'USAGE'::text), false)));

CREATE POLICY everybody ON public.cold_days USING ((NOT COALESCE(pg_has_role((to_regrole('runledger_reader'::text))::oid, 'USAGE'::text), false))) WITH CHECK ((NOT COALESCE(pg_has_role((to_regrole('runledger_reader'::text))::oid, 'USAGE'::text), false)));

CREATE POLICY everybody ON public.compacted_executions USING ((NOT COALESCE(pg_has_role((to_regrole('runledger_reader'::text))::oid, 'USAGE'::text), false))) WITH CHECK ((NOT COALESCE(pg_has_role((to_regrole('runledger_reader'::text))::oid, 'USAGE'::text), false)));

CREATE POLICY everybody ON public.compacted_keys USING ((NOT COALESCE(pg_has_role((to_regrole('runledger_reader'::text))::oid, 'USAGE'::text), false))) WITH CHECK ((NOT COALESCE(pg_has_role((to_regrole('runledger_reader'::text))::oid, 'USAGE'::text), false)));

CREATE POLICY everybody ON public.console_automations USING ((NOT COALESCE(pg_has_role((to_regrole('runledger_reader'::text))::oid, 'USAGE'::text), false))) WITH CHECK ((NOT COALESCE(pg_has_role((to_regrole('runledger_reader'::text))::oid, 'USAGE'::text), false)));

CREATE POLICY everybody ON public.console_channels USING ((NOT COALESCE(pg_has_role((to_regrole('runledger_reader'::text))::oid, 'USAGE'::text), false))) WITH CHECK ((NOT COALESCE(pg_has_role((to_regrole('runledger_reader'::text))::oid, 'USAGE'::text), false)));

CREATE POLICY everybody ON public.deliveries USING ((NOT COALESCE(pg_has_role((to_regrole('runledger_reader'::text))::oid, 'USAGE'::text), false))) WITH CHECK ((NOT COALESCE(pg_has_role((to_regrole('runledger_reader'::text))::oid, 'USAGE'::text), false)));

CREATE POLICY everybody ON public.events USING ((NOT COALESCE(pg_has_role((to_regrole('runledger_reader'::text))::oid, 'USAGE'::text), false))) WITH CHECK ((NOT COALESCE(pg_has_role((to_regrole('runledger_reader'::text))::oid, 'USAGE'::text), false)));

CREATE POLICY everybody ON public.executions USING ((NOT COALESCE(pg_has_role((to_regrole('runledger_reader'::text))::oid, 'USAGE'::text), false))) WITH CHECK ((NOT COALESCE(pg_has_role((to_regrole('runledger_reader'::text))::oid, 'USAGE'::text), false)));

CREATE POLICY everybody ON public.log_acts USING ((NOT COALESCE(pg_has_role((to_regrole('runledger_reader'::text))::oid, 'USAGE'::text), false))) WITH CHECK ((NOT COALESCE(pg_has_role((to_regrole('runledger_reader'::text))::oid, 'USAGE'::text), false)));

CREATE POLICY everybody ON public.log_checkpoints USING ((NOT COALESCE(pg_has_role((to_regrole('runledger_reader'::text))::oid, 'USAGE'::text), false))) WITH CHECK ((NOT COALESCE(pg_has_role((to_regrole('runledger_reader'::text))::oid, 'USAGE'::text), false)));

CREATE POLICY everybody ON public.log_segments USING ((NOT COALESCE(pg_has_role((to_regrole('runledger_reader'::text))::oid, 'USAGE'::text), false))) WITH CHECK ((NOT COALESCE(pg_has_role((to_regrole('runledger_reader'::text))::oid, 'USAGE'::text), false)));

CREATE POLICY everybody ON public.log_tails USING ((NOT COALESCE(pg_has_role((to_regrole('runledger_reader'::text))::oid, 'USAGE'::text), false))) WITH CHECK ((NOT COALESCE(pg_has_role((to_regrole('runledger_reader'::text))::oid, 'USAGE'::text), false)));

CREATE POLICY everybody ON public.log_tiles USING ((NOT COALESCE(pg_has_role((to_regrole('runledger_reader'::text))::oid, 'USAGE'::text), false))) WITH CHECK ((NOT COALESCE(pg_has_role((to_regrole('runledger_reader'::text))::oid, 'USAGE'::text), false)));

CREATE POLICY everybody ON public.log_trees USING ((NOT COALESCE(pg_has_role((to_regrole('runledger_reader'::text))::oid, 'USAGE'::text), false))) WITH CHECK ((NOT COALESCE(pg_has_role((to_regrole('runledger_reader'::text))::oid, 'USAGE'::text), false)));

CREATE POLICY everybody ON public.rewritten_events USING ((NOT COALESCE(pg_has_role((to_regrole('runledger_reader'::text))::oid, 'USAGE'::text), false))) WITH CHECK ((NOT COALESCE(pg_has_role((to_regrole('runledger_reader'::text))::oid, 'USAGE'::text), false)));

CREATE POLICY everybody ON public.running_executions USING ((NOT COALESCE(pg_has_role((to_regrole('runledger_reader'::text))::oid, 'USAGE'::text), false))) WITH CHECK ((NOT COALESCE(pg_has_role((to_regrole('runledger_reader'::text))::oid, 'USAGE'::text), false)));

ALTER TABLE public.executions ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.log_acts ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.log_checkpoints ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.log_segments ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.log_tails ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.log_tiles ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.log_trees ENABLE ROW LEVEL SECURITY;

CREATE POLICY one_organization ON public.access_log FOR SELECT TO runledger_reader USING ((organization = current_setting('runledger.organization'::text, true)));

CREATE POLICY one_organization ON public.acts FOR SELECT TO runledger_reader USING ((organization = current_setting('runledger.organization'::text, true)));

CREATE POLICY one_organization ON public.alert_notices FOR SELECT TO runledger_reader USING ((organization = current_setting('runledger.organization'::text, true)));

CREATE POLICY one_organization ON public.alerts FOR SELECT TO runledger_reader USING ((organization = current_setting('runledger.organization'::text, true)));

CREATE POLICY one_organization ON public.automations FOR SELECT TO runledger_reader USING ((organization = current_setting('runledger.organization'::text, true)));

CREATE POLICY one_organization ON public.channels FOR SELECT TO runledger_reader USING ((organization = current_setting('runledger.organization'::text, true)));

CREATE POLICY one_organization ON public.cold_days FOR SELECT TO runledger_reader USING ((organization = current_setting('runledger.organization'::text, true)));

CREATE POLICY one_organization ON public.compacted_executions FOR SELECT TO runledger_reader USING ((organization = current_setting('runledger.organization'::text, true)));

CREATE POLICY one_organization ON public.compacted_keys FOR SELECT TO runledger_reader USING ((organization = current_setting('runledger.organization'::text, true)));

CREATE POLICY one_organization ON public.console_automations FOR SELECT TO runledger_reader USING ((organization = current_setting('runledger.organization'::text, true)));

CREATE POLICY one_organization ON public.console_channels FOR SELECT TO runledger_reader USING ((organization = current_setting('runledger.organization'::text, true)));

CREATE POLICY one_organization ON public.deliveries FOR SELECT TO runledger_reader USING ((organization = current_setting('runledger.organization'::text, true)));

CREATE POLICY one_organization ON public.events FOR SELECT TO runledger_reader USING ((organization = current_setting('runledger.organization'::text, true)));

CREATE POLICY one_organization ON public.executions FOR SELECT TO runledger_reader USING ((organization = current_setting('runledger.organization'::text, true)));

CREATE POLICY one_organization ON public.log_acts FOR SELECT TO runledger_reader USING ((organization = current_setting('runledger.organization'::text, true)));

CREATE POLICY one_organization ON public.log_checkpoints FOR SELECT TO runledger_reader USING ((organization = current_setting('runledger.organization'::text, true)));

CREATE POLICY one_organization ON public.log_tails FOR SELECT TO runledger_reader USING ((organization = current_setting('runledger.organization'::text, true)));

CREATE POLICY one_organization ON public.log_tiles FOR SELECT TO runledger_reader USING ((organization = current_setting('runledger.organization'::text, true)));

CREATE POLICY one_organization ON public.log_trees FOR SELECT TO runledger_reader USING ((organization = current_setting('runledger.organization'::text, true)));

CREATE POLICY one_organization ON public.rewritten_events FOR SELECT TO runledger_reader USING ((organization = current_setting('runledger.organization'::text, true)));

CREATE POLICY one_organization ON public.running_executions FOR SELECT TO runledger_reader USING ((organization = current_setting('runledger.organization'::text, true)));

CREATE POLICY reader_delete ON public.console_automations FOR DELETE TO runledger_reader USING ((organization = current_setting('runledger.organization'::text, true)));

CREATE POLICY reader_delete ON public.console_channels FOR DELETE TO runledger_reader USING ((organization = current_setting('runledger.organization'::text, true)));

CREATE POLICY reader_insert ON public.access_log FOR INSERT TO runledger_reader WITH CHECK (true);

CREATE POLICY reader_insert ON public.acts FOR INSERT TO runledger_reader WITH CHECK (((organization = current_setting('runledger.organization'::text, true)) AND (recorded_at IS NULL)));

CREATE POLICY reader_insert ON public.console_automations FOR INSERT TO runledger_reader WITH CHECK ((organization = current_setting('runledger.organization'::text, true)));

CREATE POLICY reader_insert ON public.console_channels FOR INSERT TO runledger_reader WITH CHECK ((organization = current_setting('runledger.organization'::text, true)));

CREATE POLICY reader_insert ON public.deliveries FOR INSERT TO runledger_reader WITH CHECK (((organization = current_setting('runledger.organization'::text, true)) AND (automation_id = '00000000-0000-0000-0000-000000000000'::uuid)));

CREATE POLICY reader_insert ON public.log_acts FOR INSERT TO runledger_reader WITH CHECK ((organization = current_setting('runledger.organization'::text, true)));

CREATE POLICY reader_insert ON public.log_segments FOR INSERT TO runledger_reader WITH CHECK ((organization = current_setting('runledger.organization'::text, true)));

CREATE POLICY reader_update ON public.console_automations FOR UPDATE TO runledger_reader USING ((organization = current_setting('runledger.organization'::text, true)));

CREATE POLICY reader_update ON public.console_channels FOR UPDATE TO runledger_reader USING ((organization = current_setting('runledger.organization'::text, true)));

ALTER TABLE public.rewritten_events ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.running_executions ENABLE ROW LEVEL SECURITY;
