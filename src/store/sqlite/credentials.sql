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
