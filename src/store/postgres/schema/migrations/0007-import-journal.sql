-- One row for each file that was imported, written in the transaction of its merge. imported_at is
-- the stored_at of its records. The operator's role may add rows, and change or delete none. It has
-- no right to write the columns id and role, so an entry names the login that made it.
create table bursar.import_journal (
  id bigint generated always as identity primary key,
  imported_at bigint not null,
  kind text not null,
  file text not null,
  sha256 text not null,
  os_user text not null,
  sudo_user text,
  role text not null default session_user,
  records bigint not null,
  added bigint not null,
  changed bigint not null,
  unchanged bigint not null
);
