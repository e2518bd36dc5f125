-- One row for each file that was imported, written in the transaction of its merge. imported_at is
-- the stored_at of its records. role stays null: it is the login on PostgreSQL.
create table import_journal (
  id integer primary key,
  imported_at integer not null,
  kind text not null,
  file text not null,
  sha256 text not null,
  os_user text not null,
  sudo_user text,
  role text,
  records integer not null,
  added integer not null,
  changed integer not null,
  unchanged integer not null
) strict;
