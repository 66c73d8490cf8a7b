from django.contrib import admin
from django.urls import include, path

from shop.views.order import OrderView

urlpatterns = [
    path("admin/", admin.site.urls),
    path("shop/", include("shop.urls", namespace="shop")),
    path("order/", OrderView.as_view(), name="shop-order"),
]
