"""Fills the shop: one commodity of which three are in stock."""
import django

django.setup()

from myshop.models import Commodity
from shop.money import MoneyMaker

product = Commodity.objects.create(
    product_name="The last ones", product_code="1", slug="the-last-ones", unit_price=MoneyMaker("EUR")(10), order=1,
    quantity=3,
)
print("product", product.pk)
