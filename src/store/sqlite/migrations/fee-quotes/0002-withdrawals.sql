-- Finds the quote that a withdrawal has consumed.
create index fee_quote_withdrawal on fee_quote (withdrawal) where withdrawal is not null;
