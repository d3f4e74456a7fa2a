//! Result codes of the protocol and the one error type that carries them.

use std::borrow::Cow;
use std::fmt;

macro_rules! result_codes {
    ($($name:ident = $code:literal, $text:literal;)*) => {
        /// Outcome of a command, as the protocol numbers it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum ResultCode { $(#[doc = $text] $name = $code,)* }

        impl ResultCode {
            /// Every code with its name and sentence, in numeric order.
            pub const TABLE: &'static [(ResultCode, &'static str, &'static str)] =
                &[$((ResultCode::$name, stringify!($name), $text),)*];

            /// What the code means, as a phrase.
            pub const fn text(self) -> &'static str {
                match self { $(ResultCode::$name => $text,)* }
            }
        }
    };
}

result_codes! {
    Ok = 0, "done";
    ServerError = 1, "the value or request could not be processed";
    NotFound = 2, "record not found";
    Generation = 3, "the record's generation is not the one the command asked for";
    Parameter = 4, "invalid parameter";
    RecordExists = 5, "record exists already";
    BinExists = 6, "bin exists already";
    ClusterKeyMismatch = 7, "the cluster changed during the command";
    NoSpace = 8, "the namespace is full";
    Timeout = 9, "timeout";
    AlwaysForbidden = 10, "never allowed in this configuration";
    PartitionUnavailable = 11, "partition unavailable";
    BinType = 12, "the operation does not fit the bin's type";
    RecordTooBig = 13, "record too big";
    KeyBusy = 14, "too many commands wait for this record";
    ScanAbort = 15, "scan aborted";
    Unsupported = 16, "not supported";
    BinNotFound = 17, "bin not found";
    DeviceOverload = 18, "storage cannot keep up";
    KeyMismatch = 19, "the key sent is not the key stored";
    UnknownNamespace = 20, "namespace not found";
    BinName = 21, "bin name too long or invalid";
    Forbidden = 22, "not allowed now";
    ElementNotFound = 23, "element not found";
    ElementExists = 24, "element exists already";
    EnterpriseOnly = 25, "enterprise feature";
    OpNotApplicable = 26, "the operation cannot be applied to this value";
    FilteredOut = 27, "the filter expression was not true";
    LostConflict = 28, "write lost a conflict";
    InvalidEncoding = 29, "text is not valid UTF-8";
    QueryEnd = 50, "query end";
    SecurityUnsupported = 51, "security is not supported";
    SecurityNotEnabled = 52, "security is not enabled";
    UdfExecution = 100, "user-defined function failed";
    BatchDisabled = 150, "batch commands are disabled";
    BatchTooMany = 151, "too many keys in one batch";
    BatchQueuesFull = 152, "batch queues are full";
    InvalidGeoJson = 160, "invalid GeoJSON";
    IndexExists = 200, "index exists already";
    IndexNotFound = 201, "index not found";
    IndexOutOfMemory = 202, "index out of memory";
    IndexNotReadable = 203, "index is not ready to be read";
    IndexGeneric = 204, "index error";
    IndexNameTooLong = 205, "index name too long";
    IndexTooMany = 206, "too many indexes";
    QueryAborted = 210, "query aborted";
    QueryQueueFull = 211, "query queue is full";
    QueryTimeout = 212, "query timeout";
    QueryGeneric = 213, "query error";
}

impl ResultCode {
    /// The code as it stands on the wire.
    pub const fn wire(self) -> u8 {
        self as u8
    }
}

impl fmt::Display for ResultCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (code {})", self.text(), self.wire())
    }
}

/// A refusal: the protocol's code, a finer subcode where one exists (0 otherwise), and a sentence
/// that names the thing, the limit and the way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Result code that goes to the client.
    pub code: ResultCode,
    /// Finer reason inside the code, 0 when there is none.
    pub subcode: u16,
    /// A sentence a person can act on.
    pub message: Cow<'static, str>,
}

impl Error {
    /// An error with a sentence of its own.
    pub fn new(code: ResultCode, message: impl Into<Cow<'static, str>>) -> Self {
        Error { code, subcode: 0, message: message.into() }
    }
}

impl From<ResultCode> for Error {
    fn from(code: ResultCode) -> Self {
        Error { code, subcode: 0, message: Cow::Borrowed(code.text()) }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [code {}]", self.message, self.code.wire())
    }
}

impl std::error::Error for Error {}
