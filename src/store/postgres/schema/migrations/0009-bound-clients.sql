-- The one customer that a client of the operator is bound to.
alter table bursar.client add column bound_to text collate "C";
