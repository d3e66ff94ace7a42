//! The API's document, OpenAPI 3.1, from what the endpoints declare of themselves and the types that they give.

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::access::Role;
use crate::api::ENDPOINTS;
use crate::endpoint::{Endpoint, Method};

/// The document, as it is checked in at docs/reference/openapi.json.
pub fn document() -> String {
    let mut schemas = SchemaSettings::draft2020_12()
        .with(|settings| settings.definitions_path = "/components/schemas".into())
        .into_generator();
    let mut paths: Map<String, Value> = Map::new();
    for endpoint in ENDPOINTS {
        let methods = paths.entry(endpoint.route.path).or_insert_with(|| json!({}));
        if let Some(methods) = methods.as_object_mut() {
            methods.insert(method(endpoint.route.method).to_string(), operation(endpoint, &mut schemas));
        }
    }
    paths.insert("/api/v1/live".to_string(), live());
    let document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Plimsoll's laboratory",
            "version": "1",
            "description": "What `plimsoll` prints as JSON and does, over HTTP. A session's cookie says who asks \
                            (`plimsoll serve --link`); a change also says where it comes from, by `Sec-Fetch-Site` or `Origin`.",
        },
        "paths": paths,
        "components": {
            "schemas": schemas.take_definitions(true),
            "securitySchemes": { "session": { "type": "apiKey", "in": "cookie", "name": "plimsoll" } },
        },
        "security": [{ "session": [] }],
    });
    let mut text = serde_json::to_string_pretty(&document).unwrap_or_default();
    text.push('\n');
    text
}

fn method(method: Method) -> &'static str {
    match method {
        Method::Get => "get",
        Method::Post => "post",
        Method::Put => "put",
        Method::Delete => "delete",
    }
}

fn operation(endpoint: &Endpoint, schemas: &mut SchemaGenerator) -> Value {
    let in_path = endpoint.route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let in_path = in_path
        .map(|name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }));
    let in_query = endpoint.query.iter().map(|(name, what)| {
        json!({ "name": name, "in": "query", "description": what, "schema": { "type": "string" } })
    });
    let same = match endpoint.verb {
        "" => String::new(),
        verb => format!("The same as `plimsoll {verb}`, to the byte."),
    };
    let mut operation = json!({
        "summary": endpoint.summary,
        "description": same,
        "parameters": in_path.chain(in_query).collect::<Vec<_>>(),
        "responses": {
            "200": { "description": "It is so.", "content": content((endpoint.answer)(schemas).to_value()) },
            "default": {
                "description": "What is wrong, as `problems`, each with its place.",
                "content": content(json!({
                    "type": "object",
                    "properties": { "problems": { "type": "array", "items": { "type": "object" } } },
                    "required": ["problems"],
                })),
            },
        },
        "x-role": if endpoint.route.role == Role::Runner { "runner" } else { "reader" },
    });
    if let Some(body) = endpoint.body {
        operation["requestBody"] = json!({ "required": true, "content": content(body(schemas).to_value()) });
    }
    operation
}

fn content(schema: Value) -> Value {
    json!({ "application/json": { "schema": schema } })
}

/// The one that is no JSON.
fn live() -> Value {
    json!({ "get": {
        "summary": "What is being measured, as it is told: a line of the progress file for each event",
        "parameters": [
            { "name": "every", "in": "query", "description": "seconds between two looks, 1 to 60", "schema": { "type": "integer" } },
            { "name": "Last-Event-ID", "in": "header", "description": "goes on behind that event", "schema": { "type": "string" } },
        ],
        "responses": { "200": { "description": "Server-sent events.", "content": { "text/event-stream": {} } } },
        "x-role": "reader",
    } })
}
