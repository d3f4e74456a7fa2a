//! Filter expressions: whether a command may touch its record.

use cairn_ops::Env;
use cairn_ops::exp::{Program, Scope, Verdict};
use cairn_value::{Error, RecordView, ResultCode};

/// The filter of a command. It is compiled before the record is locked, and what is wrong with it
/// is told once there is a record: on an absent one a filter has no say.
pub(super) enum Filter<'a> {
    /// None: every record passes.
    None,
    /// The command's own.
    Own(Result<Program<'a>, Error>),
    /// One for all rows of a batch.
    Shared(&'a Program<'a>),
}

impl<'a> Filter<'a> {
    /// Compiles the filter that a command carries.
    pub fn compile(bytes: Option<&'a [u8]>) -> Filter<'a> {
        bytes.map_or(Filter::None, |bytes| Filter::Own(Program::compile_filter(bytes)))
    }

    /// False when metadata alone decides.
    pub fn needs_bins(&self) -> bool {
        match self {
            Filter::Own(Ok(program)) => program.needs_bins(),
            Filter::Shared(program) => program.needs_bins(),
            Filter::None | Filter::Own(Err(_)) => false,
        }
    }

    /// Refuses a command whose filter does not say yes to the record.
    pub fn check(&self, record: &RecordView<'_>, env: Env) -> Result<(), Error> {
        let program = match self {
            Filter::None => return Ok(()),
            Filter::Own(Err(error)) => return Err(error.clone()),
            Filter::Own(Ok(program)) => program,
            Filter::Shared(program) => program,
        };
        match program.filter(&Scope::of_record(record, env)) {
            Verdict::True => Ok(()),
            Verdict::False | Verdict::Unknown => Err(ResultCode::FilteredOut.into()),
        }
    }
}
