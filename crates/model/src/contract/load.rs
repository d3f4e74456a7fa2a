//! Contracts from the texts of their files, with everything that cannot be read and where.

use std::collections::HashSet;

use super::{Contract, Template, read, shape, template, validate};
use crate::diagnostic::{Diagnostic, Severity};
use crate::source::{FILE_BYTES_MAX, Sources, Span};
use crate::yaml;

/// Files that are no contract: what is wrong with them, and the files themselves for the report.
#[derive(Clone, Debug)]
pub struct Unusable {
    /// What is wrong.
    pub diagnostics: Vec<Diagnostic>,
    /// The files.
    pub sources: Sources,
}

/// Rule id of what cannot be read.
pub const UNREADABLE: &str = "unreadable";

impl Contract {
    /// Reads a contract from its files, given as names and texts.
    ///
    /// ```
    /// use cairn_model::Contract;
    /// let text = "cairn: 1\nnamespaces: {app: {}}\nentities: {user: {namespace: app, bins: {name: string}}}";
    /// let contract = Contract::parse([("model.yaml", text)]).unwrap();
    /// assert_eq!(contract.entities[0].name, "user");
    /// ```
    pub fn parse<N: Into<String>, T: Into<String>>(
        files: impl IntoIterator<Item = (N, T)>,
    ) -> Result<Contract, Unusable> {
        let mut sources = Sources::default();
        for (name, text) in files {
            sources.add(name, text);
        }
        let mut contract = Contract::default();
        let mut misfits = Vec::new();
        for (file, source) in sources.iter() {
            if source.text.len() > FILE_BYTES_MAX {
                let span = Span { file, line: 1, column: 1, len: 1 };
                misfits.push((span, "the file is larger than 4 MiB".to_owned(), None));
                continue;
            }
            match yaml::parse(file, &source.text) {
                Err(error) => misfits.push((error.span, error.text, None)),
                Ok(root) => {
                    let mut found = Vec::new();
                    validate::object(&root, &shape::ROOT, "the contract", &mut found);
                    misfits.extend(found.into_iter().map(|m| (m.span, m.text, m.fix)));
                    read::add_file(&root, &mut contract);
                    check_templates(&root, &mut misfits);
                }
            }
        }
        contract.report_twice(&mut misfits);
        if misfits.is_empty() {
            contract.sources = sources;
            return Ok(contract);
        }
        misfits.sort_by_key(|(span, ..)| *span);
        let diagnostics = misfits.into_iter().map(|(span, message, fix)| Diagnostic {
            rule: UNREADABLE,
            severity: Severity::Error,
            span,
            entity: None,
            bin: None,
            message,
            reason: "",
            fix,
            help: "",
        });
        Err(Unusable { diagnostics: diagnostics.collect(), sources })
    }

    /// Names that are declared in more than one file.
    fn report_twice(&self, misfits: &mut Vec<(Span, String, Option<String>)>) {
        let mut seen: HashSet<(&str, &str)> = HashSet::new();
        let namespaces = self.namespaces.iter().map(|n| ("namespace", &n.name, &n.place));
        let entities = self.entities.iter().map(|e| ("entity", &e.name, &e.place));
        let identifiers = self.identifiers.iter().map(|i| ("identifier", &i.name, &i.place));
        let tables = self.tables.iter().map(|t| ("table", &t.name, &t.place));
        for (what, name, place) in namespaces.chain(entities).chain(identifiers).chain(tables) {
            // Twice in one file has been reported with the file.
            if !seen.insert((what, name)) && place.name.file > 0 {
                let text =
                    format!("{what} `{}` is declared in another file too", validate::shorten(name));
                misfits.push((place.name, text, Some("keep one of them".into())));
            }
        }
    }
}

type Misfits = Vec<(Span, String, Option<String>)>;

/// Templates and component types, wherever they stand.
fn check_templates(root: &yaml::Node, misfits: &mut Misfits) {
    let named = |section: &str| root.get(section).map(yaml::Node::pairs).unwrap_or_default();
    for (_, entity) in named("entities") {
        if let Some(key) = entity.get("key") {
            check_template(key, "template", misfits);
        }
        for (_, bin) in entity.get("bins").map(yaml::Node::pairs).unwrap_or_default() {
            if let Some(key) = bin.get("key").filter(|key| !key.pairs().is_empty()) {
                check_template(key, "template", misfits);
            }
        }
    }
    for (_, identifier) in named("identifiers") {
        check_template(identifier, "template", misfits);
        check_template(identifier, "input", misfits);
    }
}

fn check_template(node: &yaml::Node, field: &str, misfits: &mut Misfits) {
    let Some(template) = node.get(field) else { return };
    let components = node.get("components").map(yaml::Node::pairs).unwrap_or_default();
    match Template::parse(template.text().unwrap_or_default(), |_| (None, false)) {
        Err(why) => misfits.push((template.span, why, None)),
        Ok(parsed) => {
            for (name, kind) in components {
                let known = parsed.components().any(|(other, _)| Some(other) == name.text());
                let shown = validate::shorten(name.text().unwrap_or_default());
                if !known {
                    let text = format!("component `{shown}` does not stand in the template");
                    misfits.push((name.span, text, None));
                } else if read::component(Some(kind)).0.is_none() {
                    let text = format!("component `{shown}` has no type that is known");
                    let fix = format!("expected {}", template::EXPECTED);
                    misfits.push((kind.span, text, Some(fix)));
                }
            }
        }
    }
}
