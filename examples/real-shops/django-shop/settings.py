"""A shop of commodities, with the settings that django-shop's own test shop and project template have in common."""
import os

from django.urls import reverse_lazy
from django.utils.text import format_lazy

SECRET_KEY = "of a shop that only this machine can reach"
DEBUG = False
ALLOWED_HOSTS = ["127.0.0.1", "localhost"]
SITE_ID = 1
ROOT_URLCONF = "urls"
USE_I18N = False
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English")]
STATIC_URL = "/static/"
MEDIA_URL = "/media/"
AUTH_USER_MODEL = "email_auth.User"
# Guests may share an email address, which Django only allows where another backend than the default is named.
AUTHENTICATION_BACKENDS = ["django.contrib.auth.backends.AllowAllUsersModelBackend"]
SILENCED_SYSTEM_CHECKS = ["auth.W004"]

INSTALLED_APPS = [
    "django.contrib.auth",
    "email_auth",
    "polymorphic",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.sites",
    "django.contrib.messages",
    "django.contrib.admin",
    "django.contrib.staticfiles",
    "djangocms_text_ckeditor",
    "django_select2",
    "cmsplugin_cascade",
    "cmsplugin_cascade.clipboard",
    "cmsplugin_cascade.extra_fields",
    "cmsplugin_cascade.icon",
    "cmsplugin_cascade.sharable",
    "cmsplugin_cascade.segmentation",
    "adminsortable2",
    "rest_framework",
    "rest_framework.authtoken",
    "rest_auth",
    "django_fsm",
    "fsm_admin",
    "djng",
    "cms",
    "menus",
    "treebeard",
    "sass_processor",
    "sekizai",
    "filer",
    "easy_thumbnails",
    "post_office",
    "shop",
    "myshop",
]

MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "shop.middleware.CustomerMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "cms.middleware.user.CurrentUserMiddleware",
    "cms.middleware.page.CurrentPageMiddleware",
    "cms.middleware.toolbar.ToolbarMiddleware",
    "cms.middleware.language.LanguageCookieMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.contrib.auth.context_processors.auth",
                "django.template.context_processors.i18n",
                "django.template.context_processors.media",
                "django.template.context_processors.static",
                "django.template.context_processors.request",
                "django.contrib.messages.context_processors.messages",
                "sekizai.context_processors.sekizai",
                "cms.context_processors.cms_settings",
                "shop.context_processors.customer",
                "shop.context_processors.shop_settings",
            ]
        },
    }
]

# Each statement commits by itself, unless django-shop asks for a transaction: the project template leaves
# ATOMIC_REQUESTS off, as Django does. ATOMIC=1 turns it on.
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": "shop",
        "USER": "shop",
        "HOST": "127.0.0.1",
        "PORT": os.environ["DB_PORT"],
        "ATOMIC_REQUESTS": os.environ.get("ATOMIC") == "1",
    }
}
MIGRATION_MODULES = {"myshop": "myshop_migrations"}  # Made anew, outside of this folder.

CMS_TEMPLATES = [("page.html", "Page")]
CMSPLUGIN_CASCADE_PLUGINS = [
    "cmsplugin_cascade.bootstrap4",
    "cmsplugin_cascade.segmentation",
    "cmsplugin_cascade.generic",
    "cmsplugin_cascade.icon",
    "cmsplugin_cascade.link",
    "shop.cascade",
]
CMSPLUGIN_CASCADE = {
    "link_plugin_classes": [
        "shop.cascade.plugin_base.CatalogLinkPluginBase",
        "shop.cascade.plugin_base.CatalogLinkForm",
    ],
    "alien_plugins": ["TextPlugin", "TextLinkPlugin", "AcceptConditionPlugin"],
    "bootstrap4": {"template_basedir": "angular-ui"},
}
THUMBNAIL_PROCESSORS = (
    "easy_thumbnails.processors.colorspace",
    "easy_thumbnails.processors.autocrop",
    "filer.thumbnail_processors.scale_and_crop_with_subject_location",
    "easy_thumbnails.processors.filters",
)

# Of the pages, which this shop has none of; but cascade asks for it, and for the admin's URL, when it starts.
CKEDITOR_SETTINGS = {"stylesSet": format_lazy("default:{}", reverse_lazy("admin:cascade_texteditor_config"))}

REST_FRAMEWORK = {"DEFAULT_RENDERER_CLASSES": ["shop.rest.money.JSONRenderer"]}
REST_AUTH_SERIALIZERS = {"LOGIN_SERIALIZER": "shop.serializers.auth.LoginSerializer"}
EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"

# Buyers pay in advance, by bank transfer say, and fetch what they bought: no gateway and no carrier is asked.
# The forms of the checkout, which a shop otherwise puts on its pages.
SHOP_DIALOG_FORMS = [
    "shop.forms.checkout.GuestForm",
    "shop.forms.checkout.PaymentMethodForm",
    "shop.forms.checkout.ShippingMethodForm",
]
SHOP_APP_LABEL = "myshop"
SHOP_CART_MODIFIERS = [
    "shop.modifiers.defaults.DefaultCartModifier",
    "shop.payment.modifiers.PayInAdvanceModifier",
    "shop.shipping.modifiers.SelfCollectionModifier",
]
SHOP_ORDER_WORKFLOWS = [
    "shop.payment.workflows.ManualPaymentWorkflowMixin",
    "shop.payment.workflows.CancelOrderWorkflowMixin",
    "shop.shipping.workflows.SimpleShippingWorkflowMixin",
]

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "handlers": {"console": {"class": "logging.StreamHandler"}},
    "root": {"handlers": ["console"], "level": "WARNING"},
}
