//! The subcommands of `cairn model`.

use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use cairn_model::examples::{EXAMPLES, example};
use cairn_model::json::Json;
use cairn_model::name::Values;
use cairn_model::size::{Comparison, sizes};
use cairn_model::{Contract, Severity, diagnostic, rules};
use clap::ArgMatches;

use super::files::{self, Error};
use super::output::print;
use super::{CLEAN, FINDINGS, output};

type Done = Result<u8, Error>;

fn text<'a>(matches: &'a ArgMatches, name: &str) -> Option<&'a str> {
    matches.get_one::<String>(name).map(String::as_str)
}

fn contract(matches: &ArgMatches) -> Result<Contract, Error> {
    files::contract(matches.get_many::<String>("file").into_iter().flatten())
}

/// Prints JSON or text, as asked.
fn show(matches: &ArgMatches, json: impl FnOnce() -> Json, text: impl FnOnce() -> String) {
    print(&if matches.get_flag("json") { json().pretty() } else { text() });
}

/// Writes a file, but never over a contract that was read.
fn write(matches: &ArgMatches, path: &str, text: &str) -> Result<(), Error> {
    let inputs = matches.get_many::<String>("file").into_iter().flatten();
    if inputs.into_iter().any(|input| is_part_of(path, input)) {
        return Err(format!("{path} is the contract itself; choose another file").into());
    }
    create(path, text)
}

fn create(path: &str, text: &str) -> Result<(), Error> {
    fs::write(path, text).map_err(|error| format!("{path}: {error}").into())
}

/// Whether a path that exists is an input, or lies in the folder that is one.
fn is_part_of(path: &str, input: &str) -> bool {
    let (Ok(path), Ok(input)) = (fs::canonicalize(path), fs::canonicalize(input)) else {
        return false;
    };
    let is_yaml = path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml");
    path == input || is_yaml && path.parent() == Some(&input)
}

/// The list of examples for the help.
pub fn examples_help() -> String {
    let rows = EXAMPLES.iter().map(|example| format!("  {:<16} {}\n", example.name, example.about));
    format!("Examples:\n{}", rows.collect::<String>())
}

/// `cairn model init`.
pub fn init(matches: &ArgMatches) -> Done {
    if matches.get_flag("list") {
        let rows = EXAMPLES.iter().map(|example| {
            Json::object([("name", example.name.into()), ("about", example.about.into())])
        });
        show(matches, || Json::Array(rows.collect()), examples_help);
        return Ok(CLEAN);
    }
    let name = text(matches, "example").unwrap_or(EXAMPLES[0].name);
    let found = example(name).ok_or_else(|| {
        let names: Vec<&str> = EXAMPLES.iter().map(|example| example.name).collect();
        format!("no example is called `{name}`; there are {}", names.join(", "))
    })?;
    match text(matches, "output") {
        Some(path) if Path::new(path).exists() => {
            return Err(format!("{path} exists; choose another file").into());
        }
        Some(path) => {
            create(path, found.text)?;
            let json = || Json::object([("written", path.into()), ("example", found.name.into())]);
            show(matches, json, || format!("wrote {path}; next: cairn model check {path}\n"));
        }
        None => {
            let json = || Json::object([("name", found.name.into()), ("text", found.text.into())]);
            show(matches, json, || found.text.to_owned());
        }
    }
    Ok(CLEAN)
}

fn today() -> Option<i64> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(now.as_secs() / 86_400).ok()
}

/// `cairn model check`.
pub fn check(matches: &ArgMatches) -> Done {
    let contract = contract(matches)?;
    let findings = rules::check(&contract, today());
    if matches.get_flag("json") {
        print(&diagnostic::to_json(&findings, &contract.sources).pretty());
    } else {
        output::findings(&findings, &contract.sources);
        let many = |count: usize, one: &str, more: &str| {
            if count == 1 { format!("1 {one}") } else { format!("{count} {more}") }
        };
        print(&format!(
            "{}, {}, {}: {}\n",
            many(contract.entities.len(), "entity", "entities"),
            many(contract.relationships.len(), "relationship", "relationships"),
            many(contract.access.len(), "access pattern", "access patterns"),
            diagnostic::summary(&findings)
        ));
    }
    let least = text(matches, "fail-on").and_then(Severity::from_name).unwrap_or(Severity::Advice);
    let fails = findings.iter().any(|finding| finding.severity <= least);
    Ok(if fails { FINDINGS } else { CLEAN })
}

/// `cairn model rules`.
pub fn rules(matches: &ArgMatches) -> Done {
    let wanted = text(matches, "rule");
    if let Some(id) = wanted.filter(|id| rules::rule(id).is_none()) {
        return Err(format!("there is no rule `{id}`; `cairn model rules` lists all").into());
    }
    let chosen = || rules::RULES.iter().filter(|rule| wanted.is_none_or(|id| id == rule.id));
    show(
        matches,
        || Json::Array(chosen().map(rules::Rule::to_json).collect()),
        || {
            let row = |rule: &rules::Rule| {
                format!(
                    "{:<24} {:<9} {}\n{:34} why: {}\n{:34} from: {}\n",
                    rule.id,
                    rule.severity.name(),
                    rule.finds,
                    "",
                    rule.reason,
                    "",
                    rule.document.title()
                )
            };
            chosen().map(row).collect()
        },
    );
    Ok(CLEAN)
}

/// `cairn model size`.
pub fn size(matches: &ArgMatches) -> Done {
    if let Some(both) = matches.get_many::<String>("compare") {
        let both: Vec<&String> = both.collect();
        return compare(matches, both[0], both[1]);
    }
    let contract = contract(matches)?;
    let sizes = sizes(&contract);
    if let Some(path) = text(matches, "html") {
        let title = contract.description.as_deref().unwrap_or("the contract");
        write(matches, path, &sizes.to_html(title))?;
    }
    show(matches, || sizes.to_json(), || sizes.to_text());
    Ok(CLEAN)
}

fn compare(matches: &ArgMatches, a: &str, b: &str) -> Done {
    let comparison = if matches.contains_id("file") {
        let contract = contract(matches)?;
        let sizes = sizes(&contract);
        let names: Vec<&str> = sizes.entities.iter().map(|entity| entity.name.as_str()).collect();
        if let Some(missing) = [a, b].into_iter().find(|name| !names.contains(name)) {
            let names = names.join(", ");
            return Err(format!("no entity is called `{missing}`; there are {names}").into());
        }
        Comparison::of_entities([a, b], &sizes)
            .ok_or_else(|| format!("`{a}` and `{b}` cannot be compared"))?
    } else {
        let [one, two] = [files::contract([&a.to_owned()])?, files::contract([&b.to_owned()])?];
        Comparison::of_contracts([a, b], [&sizes(&one), &sizes(&two)])
    };
    show(matches, || comparison.to_json(), || comparison.to_text());
    Ok(CLEAN)
}

/// `cairn model plan`.
pub fn plan(matches: &ArgMatches) -> Done {
    let contract = contract(matches)?;
    let plan = cairn_model::plan::plan(&contract);
    if let Some(path) = text(matches, "write") {
        write(matches, path, &cairn_model::plan::apply(&contract, &plan))?;
    }
    show(matches, || plan.to_json(), || plan.to_text());
    Ok(CLEAN)
}

/// `cairn model diff`.
pub fn diff(matches: &ArgMatches) -> Done {
    let [old, new] = ["old", "new"].map(|side| text(matches, side).unwrap_or_default());
    let diff = cairn_model::diff::diff(&files::side(old, new)?, &files::side(new, old)?);
    show(matches, || diff.to_json(), || diff.to_text());
    Ok(diff.exit_code())
}

/// `cairn model doc`.
pub fn doc(matches: &ArgMatches) -> Done {
    let contract = contract(matches)?;
    let (page, file) = (text(matches, "html"), text(matches, "output"));
    if let Some(path) = page {
        write(matches, path, &cairn_model::doc::html(&contract))?;
    }
    let markdown = cairn_model::doc::markdown(&contract);
    if let Some(path) = file {
        write(matches, path, &markdown)?;
    }
    let written: Vec<&str> = [page, file].into_iter().flatten().collect();
    let json = || {
        let files = Json::array(written.iter().copied());
        Json::object([("written", files), ("markdown", markdown.as_str().into())])
    };
    let report = || match written[..] {
        [] => markdown.clone(),
        _ => format!("wrote {}\n", written.join(", ")),
    };
    show(matches, json, report);
    Ok(CLEAN)
}

/// `cairn model schema`.
pub fn schema() -> Done {
    print(&cairn_model::schema::schema().pretty());
    Ok(CLEAN)
}

/// `cairn model key` and `cairn model id`.
pub fn name(
    matches: &ArgMatches,
    make: fn(&Contract, &str, &Values) -> Result<Json, String>,
) -> Done {
    let contract = contract(matches)?;
    let mut values = Vec::new();
    for pair in matches.get_many::<String>("value").into_iter().flatten() {
        let (field, value) = pair.split_once('=').ok_or_else(|| {
            format!("`{pair}` is no value; give FIELD=VALUE, as in user_id=alice")
        })?;
        values.push((field.to_owned(), value.to_owned()));
    }
    let made = make(&contract, text(matches, "name").unwrap_or_default(), &values)?;
    show(matches, || made.clone(), || lines(&made));
    Ok(CLEAN)
}

/// The fields of an object, one per line.
fn lines(json: &Json) -> String {
    let Json::Object(fields) = json else { return format!("{json}\n") };
    let line = |(name, value): &(String, Json)| match value {
        Json::Null => String::new(),
        Json::Text(text) => format!("{name:<10} {text}\n"),
        other => format!("{name:<10} {other}\n"),
    };
    fields.iter().map(line).collect()
}
