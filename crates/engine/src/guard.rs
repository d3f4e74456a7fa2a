//! A check of every write, supplied from outside.

use cairn_value::{Error, RecordView, ResultCode};

/// Looks at a write before anything changes and may refuse it.
pub trait WriteGuard: Send + Sync {
    /// `old` is the record as it is, `new` as it would become (`None`: deleted), `key` the user
    /// key in wire form when the command carries it.
    fn check(
        &self,
        old: Option<RecordView<'_>>,
        new: Option<RecordView<'_>>,
        key: Option<&[u8]>,
    ) -> Result<(), Refusal>;
}

/// Why a write was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The rule that it breaks.
    pub rule: String,
    /// The bin that breaks it, when it is one.
    pub bin: Option<String>,
    /// What is wrong and what would be right.
    pub text: String,
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Error {
        let bin = refusal.bin.map(|bin| format!("bin `{bin}`: ")).unwrap_or_default();
        let text = format!("{bin}{} [{}]", refusal.text, refusal.rule);
        Error::new(ResultCode::Forbidden, text)
    }
}
