-- A row carries the revision of its last change, so that servers read only what has changed.
-- 0 stands for every change before this step.
alter table client add column revision integer not null default 0;
create index client_by_revision on client (revision);
alter table denied_token add column revision integer not null default 0;
create index denied_token_by_revision on denied_token (revision);
alter table purpose_key add column revision integer not null default 0;

-- Null: the secret does not expire.
alter table client_secret add column expires_at integer;
