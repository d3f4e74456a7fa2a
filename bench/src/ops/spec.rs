//! The names of all contests.

use serde::Serialize;

use super::collection::{Action, CollectionContest, Shape};
use super::contest::Contest;
use super::filter::{FilterContest, RECORDS, SUBJECTS};

/// A contest by its name; cheap, so that one can be picked without building the others.
#[derive(Clone, Debug, Serialize)]
pub struct Spec {
    /// What is worked on.
    pub subject: &'static str,
    /// What is done.
    pub action: &'static str,
    /// Elements or records.
    pub size: u32,
    #[serde(skip)]
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Collection(Shape, Action),
    Filter(usize),
}

impl Spec {
    /// Every contest, for collections of these sizes.
    pub fn all(sizes: &[u32]) -> Vec<Spec> {
        let mut all = Vec::new();
        for shape in Shape::ALL {
            for action in Action::ALL {
                if !action.applies_to(shape) {
                    continue;
                }
                all.extend(sizes.iter().map(|&size| Spec {
                    subject: shape.name(),
                    action: action.name(shape),
                    size,
                    kind: Kind::Collection(shape, action),
                }));
            }
        }
        all.extend(SUBJECTS.iter().enumerate().map(|(at, action)| Spec {
            subject: "filter",
            action,
            size: RECORDS,
            kind: Kind::Filter(at),
        }));
        all
    }

    /// The name on the command line: subject, action and size.
    pub fn id(&self) -> String {
        format!("{}/{}/{}", self.subject, self.action, self.size).replace(' ', "-")
    }

    /// Prepares the contest.
    pub fn build(&self) -> Box<dyn Contest> {
        match self.kind {
            Kind::Collection(shape, action) => {
                Box::new(CollectionContest::new(shape, action, self.size))
            }
            Kind::Filter(at) => Box::new(FilterContest::new(at)),
        }
    }
}
