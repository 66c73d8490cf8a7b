-- What the witness counts: the stock left of one item and each of its orders, in one consistent read.
-- One row per order; a single row without an order when nothing was sold; no row when no such sale is open.
select s.num, o.id, o.quantity, o.buyer, o.idempotency_key
from store s
left join orders o on o.item = s.id
where s.id = ?
limit ?
