"""Fills the shop: one country that is shipped to, and one product of which oscar tracks the stock."""
import django

django.setup()

import oscar
from oscar.core.loading import get_model

get_model("address", "Country").objects.create(
    iso_3166_1_a2="GB", iso_3166_1_a3="GBR", iso_3166_1_numeric="826",
    name="United Kingdom", printable_name="United Kingdom", is_shipping_country=True,
)
kind = get_model("catalogue", "ProductClass").objects.create(
    name="Thing", slug="thing", requires_shipping=True, track_stock=True
)
product = get_model("catalogue", "Product").objects.create(
    title="The last ones", slug="the-last-ones", upc="1", product_class=kind, structure="standalone"
)
partner = get_model("partner", "Partner").objects.create(name="Partner", code="partner")
price = {"price_excl_tax" if oscar.VERSION < (2,) else "price": 10}
get_model("partner", "StockRecord").objects.create(
    product=product, partner=partner, partner_sku="1", price_currency="GBP", num_in_stock=3, **price
)
print("product", product.pk)
