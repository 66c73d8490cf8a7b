"""The models that django-shop offers for a shop whose products are commodities: each is made real by its import."""
from shop.models.defaults.commodity import Commodity
from shop.models.defaults.mapping import ProductImage, ProductPage
from shop.models.defaults.customer import Customer
from shop.models.defaults.address import BillingAddress, ShippingAddress
from shop.models.defaults.cart import Cart
from shop.models.defaults.cart_item import CartItem
from shop.models.defaults.order import Order
from shop.models.defaults.order_item import OrderItem

__all__ = [
    "BillingAddress", "Cart", "CartItem", "Commodity", "Customer", "Order", "OrderItem", "ProductImage", "ProductPage",
    "ShippingAddress",
]
