//! What can be asked for. Each request is declared once: the router, who may make it, and the document of the API follow.

use std::collections::BTreeMap;

use axum::body::Bytes;
use axum::http::StatusCode;
use model::Problem;
use schemars::{Schema, SchemaGenerator};
use serde::de::DeserializeOwned;

use crate::access::Role;
use crate::answer::{Answer, Refusal};
use crate::app::App;

/// Answers a request. It may read files: it is called where that stops nobody else.
pub(crate) type Handler = fn(&App, &Asked) -> Result<Answer, Refusal>;

/// The schema of a body or of an answer.
pub(crate) type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// How something is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Get,
    Post,
    Put,
    Delete,
}

/// A request that somebody may make.
pub(crate) struct Route {
    pub(crate) method: Method,
    /// `/api/v1/runs/{run}`.
    pub(crate) path: &'static str,
    /// The least that one must be.
    pub(crate) role: Role,
    pub(crate) handler: Handler,
    /// Whether so much CPU time is needed for it that it is put off while seconds count.
    pub(crate) is_heavy: fn(&Asked) -> bool,
}

impl Route {
    /// A request that takes little.
    pub(crate) const fn of(method: Method, path: &'static str, role: Role, handler: Handler) -> Route {
        Route { method, path, role, handler, is_heavy: |_| false }
    }

    /// It is put off while seconds count.
    pub(crate) const fn heavy(self) -> Route {
        self.heavy_if(|_| true)
    }

    /// The same for requests of which that is so.
    pub(crate) const fn heavy_if(mut self, is_heavy: fn(&Asked) -> bool) -> Route {
        self.is_heavy = is_heavy;
        self
    }
}

/// A request of the API: a route with what its document says.
pub(crate) struct Endpoint {
    pub(crate) route: Route,
    /// What it gives or does.
    pub(crate) summary: &'static str,
    /// The verb whose `--json` is the same, to the byte; empty where there is none.
    pub(crate) verb: &'static str,
    /// Parameters of the query, each with what it means.
    pub(crate) query: &'static [(&'static str, &'static str)],
    /// The body that it takes.
    pub(crate) body: Option<SchemaOf>,
    /// What it answers.
    pub(crate) answer: SchemaOf,
}

impl Endpoint {
    /// It gives or does that.
    pub(crate) const fn says(mut self, summary: &'static str) -> Endpoint {
        self.summary = summary;
        self
    }

    /// The same as the JSON of `verb`.
    pub(crate) const fn like(mut self, verb: &'static str) -> Endpoint {
        self.verb = verb;
        self
    }

    /// With parameters of its query.
    pub(crate) const fn with_query(mut self, query: &'static [(&'static str, &'static str)]) -> Endpoint {
        self.query = query;
        self
    }

    /// With a body.
    pub(crate) const fn taking(mut self, body: SchemaOf) -> Endpoint {
        self.body = Some(body);
        self
    }

    /// It is put off while seconds count.
    pub(crate) const fn heavy(mut self) -> Endpoint {
        self.route.is_heavy = |_| true;
        self
    }

    /// It changes nothing, though it has a body.
    pub(crate) const fn for_readers(mut self) -> Endpoint {
        self.route.role = Role::Reader;
        self
    }
}

/// A request as it was made.
#[derive(Debug, Clone, Default)]
pub(crate) struct Asked {
    /// The path with its query, to come back to.
    pub(crate) place: String,
    /// What stands for the braces of the route's path.
    pub(crate) path: BTreeMap<String, String>,
    /// In its order; a name may come again.
    pub(crate) query: Vec<(String, String)>,
    pub(crate) body: Bytes,
    /// Who asks; nobody yet at the sign-in.
    pub(crate) role: Option<Role>,
    /// The token of the session.
    pub(crate) session: Option<String>,
}

impl Asked {
    /// What stands for `{name}` in the path.
    pub(crate) fn part(&self, name: &str) -> &str {
        self.path.get(name).map_or("", String::as_str)
    }

    /// The same as a number.
    pub(crate) fn number(&self, name: &str) -> Result<i64, Refusal> {
        let text = self.part(name);
        text.parse().map_err(|_| {
            let what = format!("`{}` is no number", text.escape_debug());
            Refusal::new(StatusCode::NOT_FOUND, Problem::recipe(what))
        })
    }

    /// The first parameter of that name, unless it is empty.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        let values = self.query.iter().filter(|(known, value)| known == name && !value.is_empty());
        values.map(|(_, value)| value.as_str()).next()
    }

    /// All of them, in their order.
    pub(crate) fn parameters(&self, name: &str) -> Vec<&str> {
        self.query.iter().filter(|(known, _)| known == name).map(|(_, value)| value.as_str()).collect()
    }

    /// The body as a form's fields, in their order.
    pub(crate) fn form(&self) -> Vec<(String, String)> {
        url::form_urlencoded::parse(&self.body).into_owned().collect()
    }

    /// The first field of that name in the form; empty where there is none.
    pub(crate) fn field(&self, name: &str) -> String {
        self.form().into_iter().find(|(known, _)| known == name).map_or_else(String::new, |(_, value)| value)
    }

    /// The body as JSON.
    pub(crate) fn json<T: DeserializeOwned>(&self) -> Result<T, Refusal> {
        serde_json::from_slice(&self.body)
            .map_err(|error| Problem::recipe(format!("the body is not what is asked for: {error}")).into())
    }
}
