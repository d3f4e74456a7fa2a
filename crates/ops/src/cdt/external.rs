//! The form in which a stored collection leaves the store.
//!
//! A persisted index is the store's own affair: clients see the collection without it, and without
//! the flag that asked for it. Whoever hands a whole bin to a client goes through here. For bins
//! without a persisted index that costs a look at their first bytes.

use std::borrow::Cow;

use cairn_value::packed::{Head, flags, write};
use cairn_value::{Particle, ParticleType};

/// True when the particle's stored bytes are not what a client may see.
pub fn has_internal_parts(particle: Particle<'_>) -> bool {
    persisted_head(particle).is_some()
}

fn persisted_head(particle: Particle<'_>) -> Option<Head> {
    if !matches!(particle.kind, ParticleType::List | ParticleType::Map) {
        return None;
    }
    let head = Head::read(particle.bytes, 0).ok()??;
    (head.flags & flags::PERSIST_INDEX != 0).then_some(head)
}

/// The particle's bytes as clients see them; borrowed unless a persisted index is cut out.
///
/// ```
/// use cairn_ops::cdt;
/// use cairn_value::{Particle, ParticleType};
/// let bytes = [0x92, 0x01, 0x02];
/// let list = Particle::new(ParticleType::List, &bytes);
/// assert_eq!(&*cdt::external_form(list), &bytes);
/// ```
pub fn external_form(particle: Particle<'_>) -> Cow<'_, [u8]> {
    let Some((head, body)) = external_parts(particle) else {
        return Cow::Borrowed(particle.bytes);
    };
    Cow::Owned([&head, body].concat())
}

/// The external form in two pieces, a new head and the elements, so that a reply can be written
/// without copying the elements twice; `None` when the bytes can be sent as they are.
pub fn external_parts(particle: Particle<'_>) -> Option<(Vec<u8>, &[u8])> {
    let stored = persisted_head(particle)?;
    let seen = stored.flags & !flags::PERSIST_INDEX;
    let count = stored.count + u32::from(seen != 0);
    let mut head = Vec::with_capacity(9);
    if stored.is_map {
        write::map_head(&mut head, count)
    } else {
        write::list_head(&mut head, count)
    };
    if seen != 0 {
        write::flags_ext(&mut head, seen);
        if stored.is_map {
            write::nil(&mut head);
        }
    }
    Some((head, particle.bytes.get(stored.body..).unwrap_or_default()))
}
