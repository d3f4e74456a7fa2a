//! What a secondary index is about.

use cairn_ops::cdt::context;
use cairn_ops::exp::Program;
use cairn_value::key::check_set_name;
use cairn_value::record::check_bin_name;
use cairn_value::{Error, ResultCode};

/// Longest name of an index in bytes.
pub const INDEX_NAME_MAX: usize = 63;

/// What an index is about; two indexes of one namespace are never about the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IndexDefinition {
    /// The set whose records are indexed; empty for all records of the namespace.
    pub set: Vec<u8>,
    /// Where in a record the indexed values are.
    pub source: IndexSource,
    /// Which values are indexed; others are passed over.
    pub kind: IndexKind,
    /// Whether the value itself is indexed or what is inside it.
    pub part: IndexPart,
}

/// Where in a record the indexed values are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum IndexSource {
    /// In a bin, or inside a list or map that the bin holds.
    Bin {
        /// Its name.
        name: Vec<u8>,
        /// The packed context that leads to the value, empty for the bin's own value.
        context: Vec<u8>,
    },
    /// What this packed expression yields.
    Expression(Vec<u8>),
    /// Nowhere: that the record is in the set is all there is to know.
    Membership,
}

/// Which values an index holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IndexKind {
    /// Integers, by equality and range.
    Integer,
    /// Texts, by equality.
    String,
    /// Bytes, by equality.
    Blob,
    /// Points by regions that contain them, and regions by points inside.
    Geo,
}

/// Whether a value itself is indexed or what is inside it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum IndexPart {
    /// The value.
    #[default]
    Value,
    /// The elements of a list.
    ListElements,
    /// The keys of a map.
    MapKeys,
    /// The values of a map.
    MapValues,
}

impl IndexDefinition {
    /// Refuses a definition that no record could ever match.
    pub fn check(&self) -> Result<(), Error> {
        check_set_name(&self.set)?;
        match &self.source {
            IndexSource::Bin { name, context } => {
                if name.is_empty() {
                    let text = "an index on a bin needs the bin's name";
                    return Err(Error::new(ResultCode::Parameter, text));
                }
                check_bin_name(name)?;
                check_context(context)
            }
            IndexSource::Expression(bytes) => Program::compile(bytes).map(drop),
            IndexSource::Membership if self.set.is_empty() => {
                let text = "an index on set membership needs the set's name";
                Err(Error::new(ResultCode::Parameter, text))
            }
            IndexSource::Membership => Ok(()),
        }
    }
}

/// Refuses a context that does not lead to one value.
pub fn check_context(packed: &[u8]) -> Result<(), Error> {
    if packed.is_empty() {
        return Ok(());
    }
    match context::steps(packed)?.iter().find(|step| step.pick().is_none()) {
        None => Ok(()),
        Some(step) => {
            let text = format!("step {} of an index context leads to no single value", step.kind);
            Err(Error::new(ResultCode::Parameter, text))
        }
    }
}
