//! Runs the operations of one command on one record.
