//! Read, write, increment, append and prepend.
