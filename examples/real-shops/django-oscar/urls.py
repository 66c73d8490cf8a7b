import oscar

if oscar.VERSION < (2,):
    from django.conf.urls import include, url
    from oscar.app import application

    urlpatterns = [
        url(r"^i18n/", include("django.conf.urls.i18n")),
        url(r"", include(application.urls)),
    ]
else:
    from django.apps import apps
    from django.urls import include, path

    urlpatterns = [
        path("i18n/", include("django.conf.urls.i18n")),
        path("", include(apps.get_app_config("oscar").urls[0])),
    ]
