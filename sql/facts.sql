-- Reads the stock left of one item and each of its orders in one consistent view.
-- One row per order; a single row without an order when nothing was sold; no row when no such sale is open.
-- Each value is read as text and cut a little above the longest honest value, whatever the type of the column.
select left(cast(s.num as char), 32),
       left(cast(o.id as char), 129),
       left(cast(o.quantity as char), 32),
       left(cast(o.buyer as char), 65),
       left(cast(o.idempotency_key as char), 65),
       o.item is not null,
       left(cast(s.id as char), 65),
       left(cast(o.item as char), 65)
from store s
left join orders o on o.item = s.id
where s.id = ?
limit ?
