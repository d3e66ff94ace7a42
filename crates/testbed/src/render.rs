//! Templates of services and kits: the context that they see, and their mistakes as problems with file and line.
//!
//! The context is documented for people in `catalogue/services/README.md`.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use minijinja::{AutoEscape, Environment, ErrorKind, UndefinedBehavior, Value};
use model::catalogue::setting::Values;
use model::record::plan::PlanTier;
use model::{Catalogue, Plan, Problem, Result, Setting};

/// Where an instance of a tier can be reached, known before anything is rendered.
#[derive(Debug, Clone)]
pub(crate) struct Reach {
    /// The address of the host of its own that it is on; it is on this one when absent.
    pub(crate) own_host: Option<Ipv4Addr>,
    /// Its address on this host's loopback.
    pub(crate) loopback: Ipv4Addr,
    pub(crate) ports: BTreeMap<String, u16>,
    pub(crate) sockets: BTreeMap<String, PathBuf>,
    /// The database account that owns everything.
    pub(crate) user: Option<String>,
}

impl Default for Reach {
    fn default() -> Reach {
        Reach {
            own_host: None,
            loopback: Ipv4Addr::LOCALHOST,
            ports: BTreeMap::new(),
            sockets: BTreeMap::new(),
            user: None,
        }
    }
}

impl Reach {
    /// The address that its ports are on.
    fn host(&self) -> Ipv4Addr {
        self.own_host.unwrap_or(self.loopback)
    }

    /// Where one of its ports is.
    pub(crate) fn address(&self, port: u16) -> SocketAddr {
        SocketAddr::from((self.host(), port))
    }

    /// As other tiers see it: from another host there is no way through a unix socket.
    fn outside_view(&self) -> Reach {
        let near = self.own_host.is_none();
        let sockets = if near { self.sockets.clone() } else { BTreeMap::new() };
        Reach { sockets, ..self.clone() }
    }
}

/// What all templates of a stack see.
pub(crate) struct Common<'a> {
    pub(crate) plan: &'a Plan,
    /// Of each tier, its instances: one at least.
    pub(crate) reach: &'a BTreeMap<String, Vec<Reach>>,
    pub(crate) web_root: &'a Path,
    pub(crate) file_set: Option<&'a Path>,
    pub(crate) uid: u32,
    /// A password that nobody else knows, drawn for this start.
    pub(crate) secret: &'a str,
    pub(crate) cpus: usize,
    pub(crate) memory_bytes: u64,
    pub(crate) loading: bool,
}

/// What the templates of one tier see beside that.
pub(crate) struct Own<'a> {
    pub(crate) tier: &'a PlanTier,
    pub(crate) values: &'a Values,
    /// Which of its instances, from 0.
    pub(crate) instance: usize,
    pub(crate) dir: &'a Path,
    /// Its directory in memory, where the machine has such a file system.
    pub(crate) memory_dir: Option<&'a Path>,
    pub(crate) program: &'a Path,
    pub(crate) program_root: &'a Path,
    /// The directory of what its sources were built into, of a service that is built.
    pub(crate) built: Option<&'a Path>,
    /// What its modules have it load.
    pub(crate) loads: &'a [&'a str],
    /// Where the unpacked packages are that it needs, by their names.
    pub(crate) roots: &'a BTreeMap<String, PathBuf>,
}

type Map = BTreeMap<String, Value>;

fn path_value(path: &Path) -> Value {
    Value::from(path.to_string_lossy().into_owned())
}

pub(crate) fn setting_value(value: &model::Value) -> Value {
    match value {
        model::Value::Bool(value) => Value::from(*value),
        model::Value::Int(value) => Value::from(*value),
        model::Value::Float(value) => Value::from(*value),
        model::Value::Text(value) => Value::from(value.as_str()),
    }
}

fn reach_values(reach: &Reach) -> Map {
    let ports = reach.ports.iter().map(|(name, port)| (name.clone(), Value::from(*port)));
    let sockets = reach.sockets.iter().map(|(name, path)| (name.clone(), path_value(path)));
    let mut map = Map::from([
        ("host".to_string(), Value::from(reach.host().to_string())),
        ("ports".to_string(), Value::from_pairs(ports)),
        ("sockets".to_string(), Value::from_pairs(sockets)),
    ]);
    if let Some(user) = &reach.user {
        map.insert("user".to_string(), Value::from(user.as_str()));
    }
    map
}

/// A tier as others see it: its first instance by the tier's own names, and a list of all.
fn tier_values(instances: &[Reach]) -> Map {
    let seen: Vec<Reach> = instances.iter().map(Reach::outside_view).collect();
    let mut map = seen.first().map(reach_values).unwrap_or_default();
    let list = seen.iter().map(|reach| {
        let own = reach_values(reach).into_iter().filter(|(name, _)| name != "user");
        Value::from_pairs(own)
    });
    map.insert("instances".to_string(), Value::from(list.collect::<Vec<_>>()));
    map
}

impl Common<'_> {
    fn values(&self) -> Map {
        let tiers =
            self.reach.iter().map(|(name, reach)| (name.clone(), Value::from_pairs(tier_values(reach))));
        let params = self.plan.params.iter().map(|(name, value)| (name.clone(), setting_value(value)));
        let size = self.plan.size.values.iter().map(|(name, value)| (name.clone(), number(*value)));
        let kit = [
            ("name", Value::from(self.plan.kit.name.as_str())),
            ("params", Value::from_pairs(params)),
            ("size", Value::from_pairs(size)),
            ("needs", Value::from(self.plan.kit.needs.clone())),
            ("front_controller", Value::from(self.plan.kit.front_controller.clone())),
        ];
        let file_set = self.file_set.map(|path| ("file_set".to_string(), path_value(path)));
        let mut map = Map::from([
            ("tiers".to_string(), Value::from_pairs(tiers)),
            ("kit".to_string(), Value::from_pairs(kit)),
            ("web_root".to_string(), path_value(self.web_root)),
            ("user".to_string(), Value::from(self.uid)),
            ("secret".to_string(), Value::from(self.secret)),
            ("cpus".to_string(), Value::from(self.cpus)),
            ("memory_bytes".to_string(), Value::from(self.memory_bytes)),
            ("loading".to_string(), Value::from(self.loading)),
        ]);
        map.extend(file_set);
        map
    }

    /// The context of the kit's own files.
    pub(crate) fn for_app(&self) -> Value {
        Value::from_pairs(self.values())
    }

    /// The context of a tier's files, arguments and constraints.
    pub(crate) fn for_tier(&self, own: &Own<'_>) -> Value {
        let mut map: Map =
            own.values.iter().map(|(name, value)| (Setting::variable(name), setting_value(value))).collect();
        map.extend(self.values());
        if let Some(reach) = self.reach.get(&own.tier.name).and_then(|reach| reach.get(own.instance)) {
            map.extend(reach_values(reach).into_iter().filter(|(name, _)| name != "user"));
        }
        let instances = self.reach.get(&own.tier.name).map_or(1, Vec::len);
        map.insert("tier".to_string(), Value::from(own.tier.name.as_str()));
        map.insert("instance".to_string(), Value::from(own.instance));
        map.insert("instances".to_string(), Value::from(instances));
        map.insert("dir".to_string(), path_value(own.dir));
        if let Some(memory_dir) = own.memory_dir {
            map.insert("memory_dir".to_string(), path_value(memory_dir));
        }
        map.insert("program".to_string(), path_value(own.program));
        map.insert("program_root".to_string(), path_value(own.program_root));
        if let Some(built) = own.built {
            map.insert("built".to_string(), path_value(built));
        }
        map.insert("loads".to_string(), Value::from_iter(own.loads.iter().copied()));
        let roots = own.roots.iter().map(|(name, root)| (name.clone(), path_value(root)));
        map.insert("roots".to_string(), Value::from_pairs(roots));
        if let Some(database) = &own.tier.service.database {
            map.insert("data_dir".to_string(), path_value(&own.dir.join(&database.data_dir)));
            map.insert("account".to_string(), Value::from(database.user.as_str()));
        }
        Value::from_pairs(map)
    }
}

/// Whole numbers are printed without a point.
fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 9e15 { Value::from(value as i64) } else { Value::from(value) }
}

/// The renderer of one catalogue.
pub(crate) struct Renderer {
    environment: Environment<'static>,
}

impl Renderer {
    /// A template may include others of the catalogue's services: `{% include "php-fpm/php.ini.j2" %}`.
    pub(crate) fn new(catalogue: &Catalogue) -> Result<Renderer> {
        let shared: BTreeMap<String, String> = catalogue
            .below("services")
            .filter(|(path, _)| path.ends_with(".j2"))
            .map(|(path, bytes)| (path.to_string(), String::from_utf8_lossy(bytes).into_owned()))
            .collect();
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        // A path or a password must reach a configuration file as it is.
        environment.set_auto_escape_callback(|_| AutoEscape::None);
        environment.set_loader(move |name| Ok(shared.get(name).cloned()));
        let syntax = minijinja::syntax::SyntaxConfig::builder()
            .trim_blocks(true)
            .lstrip_blocks(true)
            .keep_trailing_newline(true)
            .build()
            .map_err(|error| Problem::bug(format!("the templates' syntax: {error}")))?;
        environment.set_syntax(syntax);
        environment.add_filter("on_off", |value: bool| if value { "On" } else { "Off" });
        environment.add_filter("one_zero", |value: bool| if value { "1" } else { "0" });
        Ok(Renderer { environment })
    }

    /// Renders `text`, which stands in `file`.
    pub(crate) fn text(&self, file: &str, text: &str, context: &Value) -> Result<String> {
        let text = self.environment.render_named_str(file, text, context.clone());
        text.map_err(|error| mistake(file, &error).into())
    }

    /// Whether an expression over the context is true.
    pub(crate) fn holds(&self, file: &str, expression: &str, context: &Value) -> Result<bool> {
        Ok(self.worked_out(file, "constraint.must", expression, context)?.is_true())
    }

    /// The names that an expression uses, in alphabetical order; `key` is where it stands in `file`.
    pub(crate) fn names(&self, file: &str, key: &str, expression: &str) -> Result<Vec<String>> {
        let compiled = self.environment.compile_expression(expression);
        let compiled = compiled.map_err(|error| mistake(file, &error).key(key))?;
        let mut names: Vec<String> = compiled.undeclared_variables(false).into_iter().collect();
        names.sort();
        Ok(names)
    }

    /// What an expression over the context is; `key` is where it stands in `file`.
    pub(crate) fn worked_out(
        &self,
        file: &str,
        key: &str,
        expression: &str,
        context: &Value,
    ) -> Result<Value> {
        self.environment
            .compile_expression(expression)
            .and_then(|expression| expression.eval(context.clone()))
            .map_err(|error| mistake(file, &error).key(key).into())
    }
}

fn mistake(file: &str, error: &minijinja::Error) -> Problem {
    let what = match error.kind() {
        ErrorKind::UndefinedError => "the template uses a name that does not exist here".to_string(),
        _ => format!("the template is wrong: {}", error.kind()),
    };
    let detail = error.detail().map(|detail| format!(": {detail}")).unwrap_or_default();
    // An include carries the name of the file that the mistake is in.
    let place = error.name().filter(|name| *name != "<expression>" && *name != file);
    let place = place.map_or(file.to_string(), |name| format!("services/{name}"));
    let mut problem = Problem::recipe(format!("{what}{detail}")).file(place);
    problem.place.line = error.line().and_then(|line| u32::try_from(line).ok());
    let remedy = "services/README.md lists the names that a template sees: not the sockets of a tier with \
                  net.host=own, and some ports only with the knobs that open them";
    problem.remedy(remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn renderer() -> Renderer {
        Renderer::new(&Catalogue::default()).expect("a renderer")
    }

    #[test]
    fn a_name_that_does_not_exist_is_named_with_its_line() {
        let context = Value::from_pairs([("KeepAlive", true)]);
        let problem = renderer().text(
            "services/x/x.conf.j2",
            "KeepAlive {{ KeepAlive|on_off }}\nListen {{ port }}\n",
            &context,
        );
        let text = problem.expect_err("`port` does not exist").to_string();
        assert!(text.starts_with("services/x/x.conf.j2:2: "), "{text}");
        assert!(text.contains("`port`"), "{text}");
        for (text, name) in [
            ("{{ kit.params.thumbs }}", "`kit.params.thumbs`"),
            ("{{ kit.params.thumbs|on_off }}", "`kit.params.thumbs`"),
            ("{% if thumbs %}yes{% endif %}", "`thumbs`"),
            ("{% for one in kit.thumbs %}{{ one }}{% endfor %}", "`kit.thumbs`"),
            ("{{ kit.size.pages.many }}", "`kit.size.pages`"),
        ] {
            let kit = Value::from_pairs([
                ("params", Value::from_pairs([("n", 1)])),
                ("size", Value::from_pairs([("m", 1)])),
            ]);
            let said = renderer().text("a.php", text, &Value::from_pairs([("kit", kit)]));
            let said = said.expect_err("it does not exist").to_string();
            assert!(said.starts_with("a.php:1: ") && said.contains(name), "{text}: {said}");
        }
    }

    #[test]
    fn a_value_reaches_the_file_as_it_is() {
        let context = Value::from_pairs([("dir", "/a b/<c>&d"), ("yes", "")]);
        let text = renderer().text("a.html", "{% if true %}\n  {{ dir }}\n{% endif %}\n", &context);
        assert_eq!(text, Ok("  /a b/<c>&d\n".to_string()));
    }

    #[test]
    fn a_constraint_is_an_expression_over_the_knobs() {
        let context = Value::from_pairs([("mpm", "event"), ("php", "module")]);
        let must = "php != \"module\" or mpm == \"prefork\"";
        assert_eq!(renderer().holds("s", must, &context), Ok(false));
        assert!(renderer().holds("s", "php != \"module\" or", &context).is_err());
        assert!(renderer().holds("s", "unknown > 3", &context).is_err());
    }

    #[test]
    fn a_tier_on_a_host_of_its_own_is_reached_by_its_address_and_by_no_socket() {
        let near = Reach {
            ports: [("tcp".to_string(), 4711)].into(),
            sockets: [("mysql".to_string(), PathBuf::from("mysql.sock"))].into(),
            ..Reach::default()
        };
        let far = Reach { own_host: Some(Ipv4Addr::new(198, 18, 0, 2)), ..near.clone() };
        let shown = |reach: &Reach, text: &str| {
            let db = Value::from_pairs(tier_values(std::slice::from_ref(reach)));
            renderer().text("a.conf", text, &Value::from_pairs([("db", db)]))
        };
        let at = "{{ db.host }}:{{ db.ports.tcp }}";
        assert_eq!(shown(&near, at), Ok("127.0.0.1:4711".to_string()));
        assert_eq!(shown(&far, at), Ok("198.18.0.2:4711".to_string()));
        let socket = "{{ db.sockets.mysql }} {{ db.instances[0].sockets.mysql }}";
        assert_eq!(shown(&near, socket), Ok("mysql.sock mysql.sock".to_string()));
        let said = shown(&far, socket).expect_err("it is on another host").to_string();
        assert!(said.contains("net.host=own"), "{said}");
        assert_eq!(far.address(4711).to_string(), "198.18.0.2:4711");
    }

    #[test]
    fn knobs_with_dots_and_dashes_have_names_that_templates_can_write() {
        assert_eq!(Setting::variable("server.max-worker"), "server_max_worker");
    }
}
