"""The smallest shop that django-oscar's "create your Oscar project" page leads to, for 4.x and for 1.x."""
import os

import oscar
from oscar.defaults import *  # noqa: F403

SECRET_KEY = "of a shop that only this machine can reach"
DEBUG = False
ALLOWED_HOSTS = ["127.0.0.1", "localhost"]

OLD = oscar.VERSION < (2,)  # Oscar 1.x names its apps in a function, and knows promotions.
if OLD:
    INSTALLED_APPS = [
        "django.contrib.auth",
        "django.contrib.contenttypes",
        "django.contrib.sessions",
        "django.contrib.messages",
        "django.contrib.staticfiles",
        "django.contrib.sites",
        "django.contrib.flatpages",
        "widget_tweaks",
    ] + oscar.get_core_apps()
    CONTEXT_OF_VERSION = [
        "oscar.apps.promotions.context_processors.promotions",
        "oscar.apps.customer.notifications.context_processors.notifications",
    ]
else:
    INSTALLED_APPS = oscar.INSTALLED_APPS + ["sorl.thumbnail"]
    CONTEXT_OF_VERSION = ["oscar.apps.communication.notifications.context_processors.notifications"]

SITE_ID = 1
ROOT_URLCONF = "urls"
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
STATIC_URL = "/static/"
MEDIA_URL = "/media/"
MEDIA_ROOT = os.environ["MEDIA_ROOT"]  # Oscar links the image of products without one into it.
USE_TZ = True
TIME_ZONE = "UTC"

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "oscar.apps.basket.middleware.BasketMiddleware",
    "django.contrib.flatpages.middleware.FlatpageFallbackMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [oscar.OSCAR_MAIN_TEMPLATE_DIR] if OLD else [],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.debug",
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "oscar.apps.search.context_processors.search_form",
                "oscar.apps.checkout.context_processors.checkout",
                "oscar.core.context_processors.metadata",
            ]
            + CONTEXT_OF_VERSION
        },
    }
]

AUTHENTICATION_BACKENDS = [
    "oscar.apps.customer.auth_backends.EmailBackend",
    "django.contrib.auth.backends.ModelBackend",
]
HAYSTACK_CONNECTIONS = {"default": {"ENGINE": "haystack.backends.simple_backend.SimpleEngine"}}

MARIADB = os.environ.get("DATABASE") == "mariadb"
if MARIADB:
    import pymysql

    pymysql.install_as_MySQLdb()  # Django's own choice of a client, mysqlclient, has to be compiled.

# The getting-started page recommends ATOMIC_REQUESTS: each request is one transaction. ATOMIC=0 leaves it off, as
# Django does.
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends." + ("mysql" if MARIADB else "postgresql"),
        "NAME": "shop",
        "USER": "shop",
        "HOST": "127.0.0.1",
        "PORT": os.environ["DB_PORT"],
        "ATOMIC_REQUESTS": os.environ.get("ATOMIC", "1") == "1",
    }
}

# Guests buy, too. Shipping is free and payment takes nothing: both are oscar's defaults.
OSCAR_ALLOW_ANON_CHECKOUT = True
OSCAR_SHOP_NAME = "A real shop"
EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "handlers": {"console": {"class": "logging.StreamHandler"}},
    "root": {"handlers": ["console"], "level": "WARNING"},
}
