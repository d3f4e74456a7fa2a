//! The computed size of a record is the size that the engine stores.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use cairn_engine::{Change, Engine, NamespaceConfig, Target, WritePolicy};
use cairn_model::contract::Contract;
use cairn_model::size::sizes;
use cairn_value::{BinContent, Digest, NewBin, ParticleType, Value};
use proptest::prelude::*;

/// A bin's declaration and a value that fits it exactly.
fn bin() -> impl Strategy<Value = (String, Value)> {
    let text = |n: usize| Value::String("x".repeat(n));
    prop_oneof![
        any::<i64>().prop_map(|n| ("int".to_owned(), Value::Int(n))),
        any::<bool>().prop_map(|b| ("bool".to_owned(), Value::Bool(b))),
        Just(("double".to_owned(), Value::Double(0.5))),
        (1usize..3000).prop_map(move |n| (format!("string:{n}"), text(n))),
        (1usize..3000).prop_map(|n| (format!("blob:{n}"), Value::Blob(vec![7; n]))),
        (0usize..3000, 1usize..40, any::<bool>()).prop_map(move |(count, n, ordered)| {
            let order = if ordered { "ordered" } else { "unordered" };
            let declared =
                format!("{{type: list, element: string:{n}, order: {order}, count: {count}}}");
            (declared, Value::List { items: vec![text(n); count], ordered })
        }),
        (0i64..2000).prop_map(|count| {
            let declared = format!("{{type: list, element: [int, double], count: {count}}}");
            let pair = |n| Value::list([Value::Int(n), Value::Double(1.0)]);
            (declared, Value::list((0..count).map(pair)))
        }),
        (0usize..1000, any::<bool>()).prop_map(|(count, ordered)| {
            let order = if ordered { "key-ordered" } else { "unordered" };
            let declared = format!(
                "{{type: map, key: string:6, value: bool, order: {order}, count: {count}}}"
            );
            let pair = |n| (Value::String(format!("{n:06}")), Value::Bool(true));
            (declared, Value::Map { pairs: (0..count).map(pair).collect(), ordered })
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn computed_size_is_stored_size(bins in prop::collection::vec(bin(), 1..6), set in "[a-z]{1,20}") {
        let declared: Vec<String> =
            bins.iter().enumerate().map(|(n, (kind, _))| format!("bin_{n}: {kind}")).collect();
        let text = format!(
            "cairn: 1\nnamespaces: {{test: {{}}}}\nentities: {{e: {{namespace: test, set: {set}, bins: {{{}}}}}}}",
            declared.join(", ")
        );
        let contract = Contract::parse([("m.yaml", text)]).unwrap();
        let computed = sizes(&contract).entities[0].record.p99;

        let engine = Engine::in_memory([NamespaceConfig::new("test")]).unwrap();
        let names: Vec<String> = (0..bins.len()).map(|n| format!("bin_{n}")).collect();
        let target = Target {
            digest: Digest::of(set.as_bytes(), ParticleType::Integer, &[0; 8]),
            set: set.as_bytes(),
            key: None,
        };
        let new = names.iter().zip(&bins).map(|(name, (_, value))| NewBin {
            name: name.as_bytes(),
            content: BinContent::Whole(value.kind(), value.to_particle_bytes().into()),
        });
        let change = Change::Write(new.collect());
        let namespace = engine.namespace(b"test").unwrap();
        let (_, written) =
            namespace.update(&target, &WritePolicy::default(), |_| Ok((change, ()))).unwrap();
        prop_assert_eq!(computed, f64::from(written.meta().unwrap().stored_size));
    }
}
