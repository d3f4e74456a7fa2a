//! The layouts to choose from, and the table that the choice follows.

/// A layout of a relationship.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// 1:1 in one record.
    SameRecord,
    /// 1:1 in two records under derivable keys.
    SeparateRecords,
    /// The same key in two namespaces.
    SplitNamespaces,
    /// The parent holds the keys of its children.
    KeyList,
    /// The parent holds its children.
    Consolidation,
    /// Children hold a reference with a secondary index.
    ChildReference,
    /// Both sides hold ordered lists of keys.
    BidirectionalLists,
    /// One record per parent and period.
    TimeSlices,
}

impl Pattern {
    /// Its name in contracts and output.
    pub fn name(self) -> &'static str {
        match self {
            Pattern::SameRecord => "same-record",
            Pattern::SeparateRecords => "separate-records",
            Pattern::SplitNamespaces => "split-namespaces",
            Pattern::KeyList => "key-list",
            Pattern::Consolidation => "consolidation",
            Pattern::ChildReference => "child-reference",
            Pattern::BidirectionalLists => "bidirectional-lists",
            Pattern::TimeSlices => "time-slices",
        }
    }

    /// What it means, in a line.
    pub fn about(self) -> &'static str {
        match self {
            Pattern::SameRecord => "both in one record, as bins or nested",
            Pattern::SeparateRecords => "two records whose keys are derived from each other",
            Pattern::SplitNamespaces => "the same set and key in two namespaces",
            Pattern::KeyList => "the parent holds a list of its children's keys, read as a batch",
            Pattern::Consolidation => "the parent holds its children in a list or map",
            Pattern::ChildReference => {
                "children hold a reference to the parent, with a secondary index"
            }
            Pattern::BidirectionalLists => "both sides hold ordered lists of the other side's keys",
            Pattern::TimeSlices => {
                "one record per parent and period, its key derived from the date"
            }
        }
    }

    /// Its column in the table "Choosing the right pattern", if it has one.
    pub fn facts(self) -> Option<&'static Facts> {
        FACTS.iter().find(|facts| facts.pattern == self)
    }
}

/// How well a pattern answers the inverse question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inverse {
    /// It needs an index or a second set of references.
    Separate,
    /// It answers as it is.
    Native,
}

/// Risk that writers of one record get in each other's way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contention {
    /// Writers hardly meet.
    Low,
    /// Both sides are updated.
    Moderate,
    /// All writers of one parent meet in one record.
    AtConcurrency,
}

/// What costs index memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexCost {
    /// An entry for every child.
    PerChild,
    /// An entry for every parent.
    PerParent,
    /// An entry for every child, and one in the secondary index.
    PerChildAndSecondary,
    /// An entry for every entity.
    PerEntity,
}

/// A column of the table.
#[derive(Debug)]
pub struct Facts {
    /// The pattern.
    pub pattern: Pattern,
    /// How many children suit it.
    pub child_count: &'static str,
    /// Who drives the reads.
    pub who_reads: &'static str,
    /// The inverse question.
    pub inverse: Inverse,
    /// Contention.
    pub contention: Contention,
    /// Index memory.
    pub index_cost: IndexCost,
}

/// The table "Choosing the right pattern".
pub const FACTS: [Facts; 4] = [
    Facts {
        pattern: Pattern::KeyList,
        child_count: "tens to low hundreds",
        who_reads: "parent",
        inverse: Inverse::Separate,
        contention: Contention::Low,
        index_cost: IndexCost::PerChild,
    },
    Facts {
        pattern: Pattern::Consolidation,
        child_count: "up to p99 x average size of 128 KiB",
        who_reads: "parent",
        inverse: Inverse::Separate,
        contention: Contention::AtConcurrency,
        index_cost: IndexCost::PerParent,
    },
    Facts {
        pattern: Pattern::ChildReference,
        child_count: "unbounded",
        who_reads: "child or inverse",
        inverse: Inverse::Native,
        contention: Contention::Low,
        index_cost: IndexCost::PerChildAndSecondary,
    },
    Facts {
        pattern: Pattern::BidirectionalLists,
        child_count: "an ordered list per side",
        who_reads: "both sides",
        inverse: Inverse::Native,
        contention: Contention::Moderate,
        index_cost: IndexCost::PerEntity,
    },
];
