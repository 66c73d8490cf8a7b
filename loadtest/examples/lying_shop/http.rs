//! The two listeners.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::map_response;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::json;
use uuid::Uuid;

use crate::answer::Answer;
use crate::classes::identity::{self, OtherName};
use crate::lies::Lie;
use crate::lying_instance::Shop;
use crate::purchase::{Purchase, PurchaseRequest};
use crate::response::respond;
use crate::{catalogue, classes, endless};

/// Longer than a client waits for any answer.
const CLOSES_AFTER: Duration = Duration::from_secs(60);

/// The delay of a slow admin listener.
const SLOW_ADMIN: Duration = Duration::from_millis(200);

#[derive(Deserialize)]
struct Opening {
    stock: i64,
}

pub fn public(shop: Arc<Shop>) -> Router {
    let readyz = Router::new().route("/readyz", get(readyz));
    let routes = Router::new()
        .route("/purchases", post(purchase))
        // The target of a redirect.
        .route("/elsewhere", post(purchase))
        .route("/strategies", get(strategies))
        .merge(readyz.clone());
    let routes = match shop.lie {
        Lie::Prefix => readyz.nest("/shop", routes),
        _ => routes,
    };
    named(routes, shop, Listener::Public)
}

pub fn admin(shop: Arc<Shop>) -> Router {
    let routes = Router::new().route("/sales/{item}", get(pending).put(open).delete(close));
    let routes = if shop.lie == Lie::SlowAdmin {
        routes.layer(map_response(async |response: Response| {
            tokio::time::sleep(SLOW_ADMIN).await;
            response
        }))
    } else {
        routes
    };
    match shop.lie {
        Lie::StartsSlowly => return named(routes, shop, Listener::Admin),
        Lie::PausesOnlyAdmin => return routes.with_state(shop),
        _ => {}
    }
    // The id is new after each start: an instance that restarts at once would otherwise not be noticed.
    let (id, renamed) = (Uuid::new_v4(), shop.clone());
    named(routes, shop, Listener::Admin).layer(map_response(move |mut response: Response| {
        let process = format!("{id}-{}", renamed.renamed.load(Ordering::Relaxed));
        let headers = response.headers_mut();
        headers.insert("X-Process", HeaderValue::from_str(&process).unwrap());
        std::future::ready(response)
    }))
}

/// Marks an answer to which no name of an instance is added.
#[derive(Clone)]
struct Nameless;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Listener {
    Public,
    Admin,
}

/// Adds the name of the instance to every answer.
fn named(routes: Router<Arc<Shop>>, shop: Arc<Shop>, listener: Listener) -> Router {
    let name = match shop.lie {
        Lie::OneInstance => "app-1",
        _ if listener == Listener::Admin => identity::admin_name(&shop),
        _ => &shop.instance,
    };
    let name = HeaderValue::from_str(name).unwrap();
    let boring = shop.lie == Lie::BoringFields;
    routes
        .with_state(shop)
        .layer(map_response(move |mut response: Response| {
            let is_nameless = response.extensions().get::<Nameless>().is_some();
            let headers = response.headers_mut();
            headers.entry("X-Instance").or_insert(name.clone());
            if is_nameless {
                headers.remove("X-Instance");
            }
            if boring {
                headers.insert("X-Powered-By", HeaderValue::from_static("boredom"));
                headers.insert("Cache-Control", HeaderValue::from_static("no-store"));
                headers.append("Set-Cookie", HeaderValue::from_static("a=b; Path=/"));
                headers.append("Set-Cookie", HeaderValue::from_static("c=d; Path=/"));
            }
            std::future::ready(response)
        }))
}

async fn readyz(State(shop): State<Arc<Shop>>) -> Response {
    match shop.lie {
        Lie::EndlessReadyz => Body::new(endless::endless("ready".to_owned(), " ")).into_response(),
        _ => "ready".into_response(),
    }
}

async fn strategies(State(shop): State<Arc<Shop>>) -> Response {
    let all = catalogue::strategies(&shop);
    match shop.lie {
        Lie::EndlessStrategies => endless::endless(
            "[".to_owned(),
            r#"{"name":"lie@redis","store":"redis","summary":"","claims":[]},"#,
        )
        .into_response(),
        _ => Json(all).into_response(),
    }
}

fn is_operator(shop: &Shop, headers: &HeaderMap) -> bool {
    header(headers, "authorization") == Some(&format!("Bearer {}", shop.token))
}

async fn open(
    State(shop): State<Arc<Shop>>,
    Path(item): Path<String>,
    headers: HeaderMap,
    Json(opening): Json<Opening>,
) -> Response {
    if !is_operator(&shop, &headers) {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    let stock = opening.stock;
    let there = match shop.lie {
        Lie::OpensWithMore => stock + 3,
        Lie::OpensWithLess => stock - 2,
        _ => stock,
    };
    let opened = async {
        classes::first_sale::open(&shop, &item).await?;
        classes::unseen::open(&shop).await?;
        shop.notes.forget(&item).await?;
        classes::no_test::open(&shop, &item).await?;
        shop.notes.set(&item, "stock", &stock.to_string()).await?;
        shop.redis.open(&item, there).await?;
        classes::segments::open(&shop, &item, there).await?;
        shop.sql.open(&item, there).await
    };
    match (opened.await, shop.lie) {
        (Ok(()), Lie::EndlessAdmin) => endless::endless("{".to_owned(), " ").into_response(),
        (Ok(()), _) => Json(json!({ "item": item, "stock": stock })).into_response(),
        (Err(error), _) => broken(&error),
    }
}

async fn pending(State(shop): State<Arc<Shop>>, Path(item): Path<String>, headers: HeaderMap) -> Response {
    if !is_operator(&shop, &headers) {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    match classes::apart::pending(&shop, &item).await {
        Ok(Some(pending)) => Json(json!({ "item": item, "pending": pending })).into_response(),
        Ok(None) => Json(json!({ "item": item })).into_response(),
        Err(error) => broken(&error),
    }
}

async fn close(State(shop): State<Arc<Shop>>, Path(item): Path<String>, headers: HeaderMap) -> Response {
    if !is_operator(&shop, &headers) {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    match shop.lie {
        Lie::NeverCloses | Lie::OversellsAndNeverCloses => return StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        Lie::RefusesToClose => return StatusCode::FORBIDDEN.into_response(),
        Lie::ClosesSlowly => tokio::time::sleep(CLOSES_AFTER).await,
        _ => {}
    }
    let closed = async {
        shop.notes.forget(&item).await?;
        shop.redis.close(&item).await?;
        shop.sql.close(&item).await
    };
    match closed.await {
        Ok(()) => StatusCode::NO_CONTENT.into_response(),
        Err(error) => broken(&error),
    }
}

async fn purchase(State(shop): State<Arc<Shop>>, headers: HeaderMap, uri: axum::http::Uri, body: String) -> Response {
    let Ok(mut request) = serde_json::from_str::<PurchaseRequest>(&body) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let Some(key) = header(&headers, "idempotency-key") else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    if request.quantity < 1 {
        return StatusCode::BAD_REQUEST.into_response();
    }
    request.key = key.to_owned();
    request.to_sql = header(&headers, "x-strategy").is_some_and(|name| name.ends_with("sql"));
    request.work_ms = header(&headers, "x-work-ms")
        .and_then(|ms| ms.parse().ok())
        .unwrap_or(0);
    request.gzip = header(&headers, "accept-encoding").is_some_and(|accepted| accepted.contains("gzip"));
    let fault = header(&headers, "x-fault");
    let known = |fault: &str| fault.starts_with("crash@") || fault.starts_with("pause@");
    if shop.lie == Lie::RefusesOtherFaults && fault.is_some_and(|fault| !known(fault)) {
        return StatusCode::UNPROCESSABLE_ENTITY.into_response();
    }
    request.crash = fault == Some("crash@write");
    let pause_ms = fault.and_then(|fault| fault.strip_prefix("pause=")?.split('@').next()?.parse().ok());
    request.pause = pause_ms.map(Duration::from_millis);
    if fault.is_some() && !is_operator(&shop, &headers) {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    shop.purchases.fetch_add(1, Ordering::Relaxed);
    let purchase = Purchase::new(shop, request);
    let answer = classes::serve(&purchase, uri.path().ends_with("/elsewhere")).await;
    let mut response = match answer {
        Ok(answer) => respond(answer, &purchase),
        Err(error) => broken(&error),
    };
    match identity::name(&purchase) {
        None => {}
        Some(OtherName::Nobody) => drop(response.extensions_mut().insert(Nameless)),
        Some(OtherName::Is(name)) => {
            response
                .headers_mut()
                .insert("X-Instance", HeaderValue::from_static(name));
        }
    }
    if purchase.lie() == Lie::NamesOnlyOneAfterCrash && purchase.note("crashed").await.is_ok_and(|note| note.is_some())
    {
        response
            .headers_mut()
            .insert("X-Instance", HeaderValue::from_static("app-1"));
    }
    response
}

/// Returns the answer to an unexpected error.
fn broken(error: &anyhow::Error) -> Response {
    eprintln!("{error:#}");
    let answer = Json(json!({ "title": format!("{error:#}") }));
    (StatusCode::INTERNAL_SERVER_ERROR, answer).into_response()
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// Returns no answer, ever.
pub async fn never() -> Answer {
    std::future::pending().await
}
