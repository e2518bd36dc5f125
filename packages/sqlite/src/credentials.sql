-- What SQLite adds to the tables of clients and keys.

-- A row carries the revision of its last change, so that servers read only what has changed. When
-- a client was last used is no change.
create trigger client_added after insert on client begin
  update client set revision = (select value from credential_revision) where id = new.id;
end;
create trigger client_changed after update of customer_id, name, scopes, method, jwks, issuer,
  external_id, created_at, not_before, disabled_at, bound_to on client begin
  update client set revision = (select value from credential_revision) where id = new.id;
end;
create trigger key_added after insert on purpose_key begin
  update purpose_key set revision = (select value from credential_revision) where id = new.id;
end;
create trigger key_changed after update of wrapped, master_id, revoked_at on purpose_key begin
  update purpose_key set revision = (select value from credential_revision) where id = new.id;
end;
create trigger token_denied after insert on denied_token begin
  update denied_token set revision = (select value from credential_revision)
  where jti = new.jti and expires_at = new.expires_at;
end;

-- Lines that say who saw records in full are found by record.
create trigger line_seen after insert on audit_line
  when instr(new.body, '"view":"full"') > 0 and json_valid(new.body)
begin
  insert into audit_seen (customer, kind, id, at, chain, sequence, entry)
  select json_extract(new.body, '$.customer'), json_extract(new.body, '$.kind'),
    coalesce(record.value, ''), new.at, new.chain, new.sequence,
    json_object(
      'action', json_extract(new.body, '$.action'), 'actor', json(json_extract(new.body, '$.actor')),
      'reason', json_extract(new.body, '$.reason'), 'rows', json_extract(new.body, '$.rows'))
  from (select 1) left join json_each(new.body, '$.ids') as record
  where json_extract(new.body, '$.customer') is not null
    and json_extract(new.body, '$.kind') is not null
    and json_extract(new.body, '$.actor') is not null;
end;
