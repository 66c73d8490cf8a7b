-- Reads the stock left of one item and each of its orders in one consistent view, in PostgreSQL; see `facts.sql`.
-- One row per order; a single row without an order when nothing was sold; no row when no such sale is open.
-- Each value is read as text and cut a little above the longest honest value, whatever the type of the column.
select left(s.num::text, 32),
       left(o.id::text, 129),
       left(o.quantity::text, 32),
       left(o.buyer::text, 65),
       left(o.idempotency_key::text, 65),
       o.item is not null,
       left(s.id::text, 65),
       left(o.item::text, 65)
from store s
left join orders o on o.item = s.id
where s.id = $1
limit $2
