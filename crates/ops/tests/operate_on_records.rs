//! Commands of several operations on one record: order, answers, refusals.

#![allow(clippy::unwrap_used)]

use std::borrow::Cow;

use cairn_ops::operate::{Change, Options, Outcome, check, run};
use cairn_ops::{BinOp, Env, op};
use cairn_value::limits::BINS_MAX;
use cairn_value::{
    BinContent, Bins, Digest, Edits, Error, Meta, NewBin, ParticleType, RecordView, ResultCode,
};

const ENV: Env = Env { now_ns: 0 };
const WRITE: Options =
    Options { reads: true, all_bins: false, writes: true, respond_all: false, replace: false };
const READ: Options = Options { writes: false, ..WRITE };

fn bin_op<'a>(op: u8, name: &'a str, kind: ParticleType, value: &'a [u8]) -> BinOp<'a> {
    BinOp { op, kind: kind.wire(), name: name.as_bytes(), value }
}

fn read(name: &str) -> BinOp<'_> {
    bin_op(op::READ, name, ParticleType::Nil, &[])
}

fn remove(name: &str) -> BinOp<'_> {
    bin_op(op::WRITE, name, ParticleType::Nil, &[])
}

fn text<'a>(op: u8, name: &'a str, value: &'a str) -> BinOp<'a> {
    bin_op(op, name, ParticleType::String, value.as_bytes())
}

fn pack(bins: &[(&str, &str)]) -> Vec<u8> {
    let mut packed = Vec::new();
    for (name, value) in bins {
        let content = BinContent::Whole(ParticleType::String, Cow::Borrowed(value.as_bytes()));
        NewBin { name: name.as_bytes(), content }.write_to(|piece| packed.extend_from_slice(piece));
    }
    packed
}

fn record(count: usize, packed: &[u8]) -> RecordView<'_> {
    let meta = Meta { generation: 1, void_time: 0, last_update_ns: 0, stored_size: 0 };
    let bins = Bins::new(count as u16, packed);
    RecordView { digest: Digest::ZERO, meta, set: b"", key: None, bins }
}

fn names(outcome: &Outcome<'_>) -> String {
    let Change::Bins(bins) = &outcome.change else { panic!("no bins: {outcome:?}") };
    let names = bins.iter().map(|bin| String::from_utf8_lossy(bin.name));
    names.collect::<Vec<_>>().join(",")
}

fn answers(outcome: &Outcome<'_>) -> Vec<(u8, String, String)> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    outcome.replies.iter().map(|r| (r.op, text(r.name), text(&r.bytes))).collect()
}

fn answer(op: u8, name: &str, value: &str) -> (u8, String, String) {
    (op, name.into(), value.into())
}

fn code<T>(result: Result<T, Error>) -> ResultCode {
    result.map_or_else(|error| error.code, |_| ResultCode::Ok)
}

const FIVE: [(&str, &str); 5] = [("a", "1"), ("b", "2"), ("c", "3"), ("d", "4"), ("e", "5")];

#[test]
fn the_last_bin_takes_the_place_of_a_removed_one() {
    let packed = pack(&FIVE);
    let record = record(5, &packed);
    let ops = [remove("a"), remove("zz")];
    assert_eq!(names(&run(Some(&record), &ops, &ENV, WRITE).unwrap()), "e,b,c,d");
    let ops = [text(op::WRITE, "c", "x"), text(op::WRITE, "n", "y"), remove("b")];
    assert_eq!(names(&run(Some(&record), &ops, &ENV, WRITE).unwrap()), "a,n,c,d,e");
}

#[test]
fn a_record_of_many_bins_is_found_by_name_as_well() {
    let owned: Vec<String> = (0..300).map(|i| format!("b{i}")).collect();
    let bins: Vec<_> = owned.iter().map(|name| (name.as_str(), "v")).collect();
    let packed = pack(&bins);
    let record = record(300, &packed);
    let mut ops: Vec<_> = owned[..299].iter().map(|name| remove(name)).collect();
    ops.extend([text(op::WRITE, "new", "1"), read("b299"), read("b0"), read("new")]);
    let outcome = run(Some(&record), &ops, &ENV, WRITE).unwrap();
    assert_eq!(names(&outcome), "b299,new");
    let expected = [answer(op::READ, "b299", "v"), answer(op::READ, "new", "1")];
    assert_eq!(answers(&outcome), expected);
}

#[test]
fn operations_see_what_those_before_them_did() {
    let packed = pack(&[("a", "str")]);
    let record = record(1, &packed);
    let ops =
        [read("a"), text(op::APPEND, "a", "x"), read("a"), text(op::PREPEND, "a", "y"), read("a")];
    let outcome = run(Some(&record), &ops, &ENV, WRITE).unwrap();
    let expected = ["str", "strx", "ystrx"].map(|value| answer(op::READ, "a", value));
    assert_eq!(answers(&outcome), expected);
}

#[test]
fn every_operation_answers_when_asked_but_touch() {
    let packed = pack(&[("a", "1")]);
    let record = record(1, &packed);
    let touch = bin_op(op::TOUCH, "", ParticleType::Nil, &[]);
    let ops = [read("z"), text(op::WRITE, "a", "2"), touch, text(op::APPEND, "a", "3"), read("a")];
    let outcome = run(Some(&record), &ops, &ENV, Options { respond_all: true, ..WRITE }).unwrap();
    let expected = [
        answer(op::READ, "z", ""),
        answer(op::WRITE, "a", ""),
        answer(op::APPEND, "a", ""),
        answer(op::READ, "a", "23"),
    ];
    assert_eq!(answers(&outcome), expected);
    assert_eq!(outcome.replies[0].kind, ParticleType::Nil);
}

#[test]
fn one_edit_stays_an_edit_and_a_second_one_makes_it_whole() {
    let packed = pack(&[("a", "stored"), ("b", "kept")]);
    let record = record(2, &packed);
    let ops = [text(op::APPEND, "a", "!"), read("a")];
    let outcome = run(Some(&record), &ops, &ENV, WRITE).unwrap();
    assert_eq!(answers(&outcome), [answer(op::READ, "a", "stored!")]);
    let Change::Bins(bins) = outcome.change else { panic!("no bins") };
    let mut edits = Edits::none();
    edits.push(6, 0, b"!".to_vec());
    assert!(matches!(&bins[0].content,
        BinContent::Edited { old, edits: found, .. } if *old == b"stored" && *found == edits));
    assert!(matches!(bins[1].content, BinContent::Whole(_, Cow::Borrowed(_))));

    let ops = [text(op::APPEND, "a", "!"), text(op::APPEND, "a", "?")];
    let Change::Bins(bins) = run(Some(&record), &ops, &ENV, WRITE).unwrap().change else {
        panic!("no bins")
    };
    assert!(matches!(&bins[0].content, BinContent::Whole(_, bytes) if **bytes == *b"stored!?"));
}

#[test]
fn a_value_from_the_request_is_never_the_base_of_an_edit() {
    let ops = [text(op::WRITE, "a", "new"), text(op::APPEND, "a", "er")];
    let Change::Bins(bins) = run(None, &ops, &ENV, WRITE).unwrap().change else {
        panic!("no bins")
    };
    assert!(matches!(&bins[0].content, BinContent::Whole(_, bytes) if **bytes == *b"newer"));
}

#[test]
fn a_record_without_bins_goes_and_is_never_made() {
    let packed = pack(&[("a", "1")]);
    let record = record(1, &packed);
    let delete = bin_op(op::DELETE, "", ParticleType::Nil, &[]);
    for ops in [[remove("a"), read("a")], [read("a"), delete]] {
        let outcome = run(Some(&record), &ops, &ENV, WRITE).unwrap();
        assert!(matches!(outcome.change, Change::Delete));
        assert_eq!(code(run(None, &ops, &ENV, WRITE)), ResultCode::NotFound);
    }
    let outcome = run(Some(&record), &[read("a"), remove("z")], &ENV, WRITE).unwrap();
    assert!(matches!(outcome.change, Change::Touch));
    let outcome = run(None, &[delete, text(op::WRITE, "z", "1")], &ENV, WRITE).unwrap();
    assert_eq!(names(&outcome), "z");
}

#[test]
fn a_failing_operation_fails_them_all() {
    let packed = pack(&[("a", "1")]);
    let record = record(1, &packed);
    let ops = [text(op::WRITE, "n", "1"), bin_op(op::INCREMENT, "a", ParticleType::Integer, &[1])];
    assert_eq!(code(run(Some(&record), &ops, &ENV, WRITE)), ResultCode::BinType);
}

#[test]
fn reads_answer_bins_in_the_order_asked() {
    let packed = pack(&FIVE);
    let record = record(5, &packed);
    let ops = [read("e"), read("zz"), read("a"), read("e")];
    let outcome = run(Some(&record), &ops, &ENV, READ).unwrap();
    let expected = [("e", "5"), ("a", "1"), ("e", "5")].map(|(n, v)| answer(op::READ, n, v));
    assert_eq!(answers(&outcome), expected);
    assert!(matches!(outcome.replies[0].bytes, Cow::Borrowed(_)));

    let all = run(Some(&record), &[], &ENV, Options { all_bins: true, ..READ }).unwrap();
    assert_eq!(answers(&all), FIVE.map(|(n, v)| answer(op::READ, n, v)));
}

#[test]
fn what_a_read_may_not_hold() {
    let packed = pack(&FIVE);
    let record = record(5, &packed);
    let read_code = |ops: &[BinOp<'_>]| code(run(Some(&record), ops, &ENV, READ));
    assert_eq!(read_code(&[]), ResultCode::Parameter);
    assert_eq!(read_code(&[text(op::WRITE, "a", "1")]), ResultCode::Parameter);
    assert_eq!(read_code(&[read("sixteen.bytes.xx")]), ResultCode::BinName);
    assert_eq!(read_code(&[read("a\0b")]), ResultCode::BinName);
    assert_eq!(code(run(None, &[read("a")], &ENV, READ)), ResultCode::NotFound);
}

#[test]
fn what_a_write_is_refused_for_before_the_record_is_seen() {
    let checked = |ops: &[BinOp<'_>], options| code(check(ops, options));
    let silent = Options { reads: false, ..WRITE };
    let replace = Options { replace: true, ..WRITE };
    let all = Options { all_bins: true, ..WRITE };
    let put = text(op::WRITE, "a", "1");
    let touch = bin_op(op::TOUCH, "", ParticleType::Nil, &[]);
    assert_eq!(checked(&[], WRITE), ResultCode::Parameter);
    assert_eq!(checked(&[put, read("a")], WRITE), ResultCode::Ok);
    assert_eq!(checked(&[put, read("a")], silent), ResultCode::Parameter);
    assert_eq!(checked(&[put, read("a")], replace), ResultCode::Ok);
    for needs_old in [text(op::APPEND, "a", "1"), remove("a"), touch] {
        assert_eq!(checked(&[put, needs_old], replace), ResultCode::Parameter);
    }
    assert_eq!(checked(&[text(op::WRITE, "sixteen.bytes.xx", "")], WRITE), ResultCode::BinName);
    assert_eq!(checked(&[put], all), ResultCode::Parameter);
    assert_eq!(checked(&[put, read("")], all), ResultCode::Ok);
    assert_eq!(
        checked(&[put, read("")], Options { respond_all: true, ..all }),
        ResultCode::Parameter
    );
    assert_eq!(checked(&[], READ), ResultCode::Ok);
}

#[test]
fn a_replacing_write_forgets_the_old_bins() {
    let packed = pack(&FIVE);
    let record = record(5, &packed);
    let ops = [text(op::WRITE, "c", "x"), read("a"), read("c")];
    let outcome = run(Some(&record), &ops, &ENV, Options { replace: true, ..WRITE }).unwrap();
    assert_eq!(names(&outcome), "c");
    assert_eq!(answers(&outcome), [answer(op::READ, "c", "x")]);
}

#[test]
fn an_empty_name_reads_all_bins_only_when_all_are_announced() {
    let packed = pack(&[("a", "1")]);
    let record = record(1, &packed);
    let ops = [text(op::WRITE, "q", "2"), read("")];
    let outcome = run(Some(&record), &ops, &ENV, Options { all_bins: true, ..WRITE }).unwrap();
    assert_eq!(answers(&outcome), [answer(op::READ, "a", "1"), answer(op::READ, "q", "2")]);
    assert!(answers(&run(Some(&record), &ops, &ENV, WRITE).unwrap()).is_empty());
}

#[test]
fn operations_nobody_knows_are_refused() {
    let packed = pack(&[("a", "1")]);
    let record = record(1, &packed);
    for unknown in [0, 6, 20, 255] {
        let ops = [bin_op(unknown, "a", ParticleType::Integer, &[1])];
        for options in [READ, WRITE] {
            assert_eq!(code(run(Some(&record), &ops, &ENV, options)), ResultCode::Parameter);
        }
    }
}

#[test]
fn a_bin_is_looked_at_before_the_call() {
    let packed = pack(&[("a", "text")]);
    let record = record(1, &packed);
    let nonsense = |op, name| [bin_op(op, name, ParticleType::Blob, &[0xc1])];
    for op in [op::BIT_MODIFY, op::HLL_MODIFY, op::BIT_READ, op::HLL_READ] {
        let refused = code(run(Some(&record), &nonsense(op, "a"), &ENV, WRITE));
        assert_eq!(refused, ResultCode::BinType, "operation {op}");
    }
    let nothing = run(Some(&record), &nonsense(op::HLL_READ, "zz"), &ENV, READ).unwrap();
    assert!(nothing.replies.is_empty());
    let refused = code(run(None, &nonsense(op::HLL_MODIFY, "zz"), &ENV, WRITE));
    assert_eq!(refused, ResultCode::Parameter);
}

#[test]
fn a_record_has_a_limit_of_bins() {
    let names: Vec<String> = (0..=BINS_MAX).map(|i| format!("b{i}")).collect();
    let ops: Vec<_> = names.iter().map(|name| text(op::WRITE, name, "")).collect();
    let most = run(None, &ops[..BINS_MAX], &ENV, WRITE).unwrap();
    assert!(matches!(most.change, Change::Bins(bins) if bins.len() == BINS_MAX));
    let error = run(None, &ops, &ENV, WRITE).unwrap_err();
    assert_eq!(error.code, ResultCode::RecordTooBig);
    assert!(error.message.contains("32767"), "{error}");
}
