//! What the flags of a message ask of a record besides its data.

use cairn_engine::{Exists, GenerationCheck, ReadPolicy, ReadTouch, Ttl, WritePolicy};
use cairn_ops::operate::Options;

use crate::wire::MessageHeader;
use crate::wire::flags::{info1, info2, info3};

/// What a read asks for.
pub(super) fn read(header: &MessageHeader) -> ReadPolicy {
    let touch = match header.record_ttl {
        0 => ReadTouch::Default,
        percent @ 1..=100 => ReadTouch::Below(percent),
        _ => ReadTouch::Never,
    };
    ReadPolicy { touch }
}

/// What a write asks for; `None` when nothing can satisfy it: there must be a record and there
/// must be none.
pub(super) fn write(header: &MessageHeader) -> Option<WritePolicy> {
    let create_only = header.info2 & info2::CREATE_ONLY != 0;
    let replace_only = header.info3 & info3::REPLACE_ONLY != 0;
    let update_only = header.info3 & info3::UPDATE_ONLY != 0;
    let replace = header.info3 & info3::CREATE_OR_REPLACE != 0;
    let exists = match (create_only, update_only || replace_only, replace || replace_only) {
        (true, true, _) => return None,
        (true, false, _) => Exists::CreateOnly,
        (false, true, true) => Exists::ReplaceOnly,
        (false, true, false) => Exists::UpdateOnly,
        (false, false, true) => Exists::Replace,
        (false, false, false) => Exists::Any,
    };
    let ttl = match header.record_ttl {
        0 => Ttl::Default,
        u32::MAX => Ttl::Never,
        0xffff_fffe => Ttl::Keep,
        seconds => Ttl::Seconds(seconds),
    };
    Some(WritePolicy { exists, generation: generation(header), ttl, store_key: true })
}

/// What a delete asks for: a record, whose absence counts before its generation.
pub(super) fn delete(header: &MessageHeader) -> WritePolicy {
    let exists = Exists::UpdateOnly;
    WritePolicy { exists, generation: generation(header), ..WritePolicy::default() }
}

fn generation(header: &MessageHeader) -> GenerationCheck {
    if header.info2 & info2::GENERATION_EQUAL != 0 {
        GenerationCheck::Equal(header.generation)
    } else if header.info2 & info2::GENERATION_GREATER != 0 {
        GenerationCheck::Greater(header.generation)
    } else {
        GenerationCheck::None
    }
}

/// What the flags announce about the operations.
pub(super) fn options(header: &MessageHeader) -> Options {
    Options {
        reads: header.info1 & info1::READ != 0,
        all_bins: header.info1 & info1::GET_ALL != 0,
        writes: header.info2 & info2::WRITE != 0,
        respond_all: header.info2 & info2::RESPOND_ALL_OPS != 0,
        replace: header.info3 & (info3::CREATE_OR_REPLACE | info3::REPLACE_ONLY) != 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exists(info2: u8, info3: u8) -> Option<Exists> {
        write(&MessageHeader { info2, info3, ..Default::default() }).map(|policy| policy.exists)
    }

    #[test]
    fn the_strictest_of_the_exists_flags_counts() {
        assert_eq!(exists(0x01, 0x00), Some(Exists::Any));
        assert_eq!(exists(0x21, 0x00), Some(Exists::CreateOnly));
        assert_eq!(exists(0x21, 0x10), Some(Exists::CreateOnly));
        assert_eq!(exists(0x01, 0x08), Some(Exists::UpdateOnly));
        assert_eq!(exists(0x01, 0x18), Some(Exists::ReplaceOnly));
        assert_eq!(exists(0x01, 0x10), Some(Exists::Replace));
        assert_eq!(exists(0x01, 0x20), Some(Exists::ReplaceOnly));
        assert_eq!(exists(0x01, 0x30), Some(Exists::ReplaceOnly));
        assert_eq!(exists(0x21, 0x08), None);
        assert_eq!(exists(0x21, 0x30), None);
    }

    #[test]
    fn times_to_live_have_three_special_values() {
        let ttl =
            |record_ttl| write(&MessageHeader { record_ttl, ..Default::default() }).unwrap().ttl;
        assert_eq!(ttl(0), Ttl::Default);
        assert_eq!(ttl(u32::MAX), Ttl::Never);
        assert_eq!(ttl(u32::MAX - 1), Ttl::Keep);
        assert_eq!(ttl(1), Ttl::Seconds(1));
    }
}
