//! The published tables of a study, each value and claim with the cells that it is of.

use super::design::{Design, Found};
use super::level::{path, unique};
use super::signals::StudySignals;
use super::{ClaimRequest, PublishedRequest, StudyFile, Where, signals};
use crate::catalogue::kit::{DEFAULT_MIX, KitManifest, Metric};
use crate::document;
use crate::problem::Problem;
use crate::record::study::published::{Claim, Published, PublishedFigure, PublishedRow};

/// The tables of `study`, each value with its cell in `design`; `others` are the designs of the study's other forms.
/// Mistakes are added to `found`.
pub(super) fn tables(
    study: &StudyFile,
    design: &Design,
    others: &[Design],
    (kit, signals): (Option<&KitManifest>, &StudySignals<'_>),
    found: &mut Found,
) -> Vec<Published> {
    let designs: Vec<&Design> = std::iter::once(design).chain(others).collect();
    let tables = study.published.iter().enumerate().map(|(at, request)| {
        let here = path(&["published", &at.to_string()]);
        let figure = figure(study, request, (kit, signals), &here, found);
        let rows = request.values.iter().enumerate().map(|(number, value)| {
            let here = [here.clone(), path(&["value", &number.to_string()])].concat();
            if !value.value.is_finite() || value.value <= 0.0 {
                let what = format!("{} is no value that ratios can be taken of", value.value);
                found.push(([here.clone(), path(&["value"])].concat(), Problem::recipe(what)));
            }
            let here = [here, path(&["where"])].concat();
            let cell = cell(&value.place, &designs, &here, found);
            PublishedRow { bound: value.bound, ..PublishedRow::new(&value.label, value.value, cell) }
        });
        let rows: Vec<PublishedRow> = rows.collect();
        let bases = rows.iter().filter(|row| row.value == 1.0 && row.bound.is_none()).count();
        if request.relative && !rows.is_empty() && bases != 1 {
            let what = format!("ratios are to one value that is 1, and {bases} are");
            let remedy =
                "[[published.value]] where = { … }, as = \"what the others are ratios to\", value = 1";
            found.push((here.clone(), Problem::recipe(what).remedy(remedy)));
        }
        let claims = request.claims.iter().enumerate();
        let claims: Vec<Claim> = claims
            .map(|(number, claim)| {
                let here = [here.clone(), path(&["claim", &number.to_string()])].concat();
                cells_of(claim, &designs, &here, found)
            })
            .collect();
        if rows.is_empty() && claims.is_empty() {
            let problem = Problem::recipe("the table has neither a value nor a claim");
            let remedy = "[[published.value]] where = { users = 1500 }, as = \"1,500 users\", value = 250";
            found.push((here.clone(), problem.remedy(remedy)));
        }
        let source = if request.source.is_empty() { &study.source } else { &request.source };
        Published {
            title: request.title.clone(),
            of: request.of.clone(),
            figure,
            unit: request.unit.clone(),
            relative: request.relative,
            source: source.clone(),
            rows,
            base: None,
            pairs: Vec::new(),
            claims,
        }
    });
    tables.collect()
}

/// Our figure beside a table, in the table's unit.
fn figure(
    study: &StudyFile,
    request: &PublishedRequest,
    (kit, signals): (Option<&KitManifest>, &StudySignals<'_>),
    here: &[String],
    found: &mut Found,
) -> PublishedFigure {
    if request.of.is_empty() {
        found.extend(has_places(request).then(|| (here.to_vec(), nothing_beside())));
        return PublishedFigure::default();
    }
    let of = [here.to_vec(), path(&["of"])].concat();
    let known = match signals::name_of(&request.of) {
        Some(name) => signals.unit(name, &of, found).map(|unit| (PublishedFigure::of_signal(name), unit)),
        None => figure_of_kit(study, request, kit, &of, found),
    };
    let Some((figure, unit)) = known else { return PublishedFigure::default() };
    if (figure.name == "load_line") != study.find.is_some() {
        let what = if study.find.is_some() {
            "a study with [find] measures load lines: only `load_line` can stand beside them"
        } else {
            "`load_line` is the figure of a study with [find]"
        };
        found.push((of, Problem::recipe(what)));
    }
    match figure.clone().in_unit(&unit, &request.unit) {
        Some(figure) => PublishedFigure { percent: percent(kit, &figure), ..figure },
        None => {
            let what =
                format!("`{}` can't be compared with our {}, which is in {unit}", request.unit, request.of);
            let remedy = if unit == "s" { "s, ms or us".to_string() } else { format!("`{unit}`") };
            found.push(([here.to_vec(), path(&["unit"])].concat(), Problem::recipe(what).remedy(remedy)));
            figure
        }
    }
}

/// The percentile that a metric is declared as.
fn percent(kit: Option<&KitManifest>, figure: &PublishedFigure) -> Option<f64> {
    let metric = kit?.metrics.iter().find(|metric| figure.metric && metric.name == figure.name)?;
    metric.percent_of_all()
}

/// The table says of which cells of ours its values are, or speaks of some.
fn has_places(request: &PublishedRequest) -> bool {
    !request.claims.is_empty() || request.values.iter().any(|value| !value.place.is_empty())
}

fn nothing_beside() -> Problem {
    let what = "the table has no `of`: nothing of ours can stand beside its values";
    Problem::recipe(what).remedy("of = \"throughput\", or values without `where` and no claim")
}

/// A figure of trials or one of the kit's metrics, with its unit; absent when it is neither.
fn figure_of_kit(
    study: &StudyFile,
    request: &PublishedRequest,
    kit: Option<&KitManifest>,
    of: &[String],
    found: &mut Found,
) -> Option<(PublishedFigure, String)> {
    let one = study.mix.as_deref().unwrap_or(DEFAULT_MIX);
    // What one of the mixes has not is absent from its cells.
    let is_of_any = |metric: &Metric| match &study.mixes[..] {
        [] => metric.is_of(one),
        mixes => mixes.iter().any(|mix| metric.is_of(mix)),
    };
    let of_mix = kit.iter().flat_map(|kit| &kit.metrics).filter(|metric| is_of_any(metric));
    let metrics: Vec<(&str, &str)> = of_mix.map(|m| (m.name.as_str(), m.unit.as_str())).collect();
    let what = match PublishedFigure::read(&request.of, &metrics) {
        Ok(read) => return Some(read),
        Err(what) => what,
    };
    let names = || metrics.iter().map(|(name, _)| *name);
    let problem = match document::nearest(&request.of, names()) {
        Some(near) => Problem::recipe(what).remedy(format!("`{near}`")),
        None => Problem::recipe(what).remedy(format!(
            "`throughput`, `HomePage p90`, `mean`, `sd`, `load_line`, `signal:web.cpu.cores`{}",
            names().map(|name| format!(", `{name}`")).collect::<String>()
        )),
    };
    // A kit that can't be read is told elsewhere, and may well have such a metric.
    if kit.is_some() {
        found.push((of.to_vec(), problem));
    }
    None
}

fn cells_of(claim: &ClaimRequest, designs: &[&Design], here: &[String], found: &mut Found) -> Claim {
    if claim.of.len() < 2 {
        let problem = Problem::recipe("a claim is about two cells or more");
        found.push(([here.to_vec(), path(&["of"])].concat(), problem));
    }
    let cells = claim.of.iter().enumerate().filter_map(|(number, place)| {
        let here = [here.to_vec(), path(&["of", &number.to_string()])].concat();
        cell(place, designs, &here, found)
    });
    Claim { says: claim.says.clone(), order: claim.order, cells: cells.collect(), pairs: Vec::new() }
}

/// The cell of the first design that has all the levels of `place`; none when it has no such cell.
fn cell(place: &Where, designs: &[&Design], here: &[String], found: &mut Found) -> Option<usize> {
    let mut sound = true;
    for (name, levels) in place {
        let at = [here.to_vec(), path(&[name])].concat();
        let columns: Vec<_> =
            designs.iter().flat_map(|design| &design.columns).filter(|column| &column.name == name).collect();
        if columns.is_empty() {
            let known =
                || designs.iter().flat_map(|design| &design.columns).map(|column| column.name.as_str());
            let problem = Problem::recipe(format!("`{name}` is no factor of this study"));
            let remedy = match document::nearest(name, known()) {
                Some(near) => format!("`{near}`"),
                None => format!("one of: {}", unique(known()).join(", ")),
            };
            found.push((at, problem.remedy(remedy)));
            sound = false;
            continue;
        }
        let known = || columns.iter().flat_map(|column| &column.levels).map(|level| level.label.as_str());
        for label in levels.labels().iter().filter(|label| !known().any(|known| known == label.as_str())) {
            let problem = Problem::recipe(format!("`{label}` is no level of {name}"));
            let why = "the figure would never stand beside one of ours";
            let remedy = format!("one of: {}", unique(known()).join(", "));
            found.push((at.clone(), problem.why(why).remedy(remedy)));
            sound = false;
        }
    }
    if place.is_empty() || !sound {
        return None;
    }
    let design = designs.first()?;
    let has = |combination: &Vec<usize>| {
        place.iter().all(|(name, levels)| {
            let mut pairs = design.columns.iter().zip(combination);
            let level = pairs.find(|(column, _)| &column.name == name);
            level.is_some_and(|(column, level)| levels.labels().contains(&column.levels[*level].label))
        })
    };
    let cells: Vec<usize> =
        (0..design.combinations.len()).filter(|at| has(&design.combinations[*at])).collect();
    if cells.len() > 1 {
        let what = format!("{} cells have these levels", cells.len());
        let varied = design.columns.iter().filter(|column| column.levels.len() > 1);
        let missing = varied.map(|column| column.name.as_str()).filter(|name| !place.contains_key(*name));
        let remedy = match unique(missing).as_slice() {
            [] => "one level of each factor in each form".to_string(),
            names => format!("say {} too", names.join(" and ")),
        };
        found.push((here.to_vec(), Problem::recipe(what).why("a figure is of one cell").remedy(remedy)));
    }
    cells.first().copied()
}
