//! Settings by name: the one table behind `-o KEY=VALUE`, its errors and its help.
//!
//! A setting is `namespace.NAME.KEY=VALUE`; [`KEYS`] holds every `KEY`.
//!
//! ```
//! use cairn_engine::NamespaceConfig;
//! let mut namespaces = vec![NamespaceConfig::new("test")];
//! cairn_server::config::apply("namespace.test.default-ttl=30d", &mut namespaces)?;
//! assert_eq!(namespaces[0].default_ttl_s, 30 * 86_400);
//! let error = cairn_server::config::apply("namespace.test.defualt-ttl=1", &mut namespaces);
//! assert!(error.unwrap_err().to_string().contains("default-ttl"));
//! # Ok::<(), cairn_value::Error>(())
//! ```

mod keys;
mod suggest;
pub(crate) mod value;

use cairn_engine::NamespaceConfig;
use cairn_value::{Error, ResultCode};

pub use keys::{KEYS, Key};
pub use value::Kind;

/// Applies one `KEY=VALUE` to the namespaces that are declared.
pub fn apply(setting: &str, namespaces: &mut [NamespaceConfig]) -> Result<(), Error> {
    let (name, value) = setting.split_once('=').ok_or_else(|| {
        refusal(format!("`{setting}` is not KEY=VALUE, for example namespace.test.default-ttl=30d"))
    })?;
    let (namespace, key) = split_name(name.trim())?;
    let declared: Vec<String> = namespaces.iter().map(|config| config.name.clone()).collect();
    let config =
        namespaces.iter_mut().find(|config| config.name == namespace).ok_or_else(|| {
            let hint = suggest::closest(namespace, declared.iter().map(String::as_str));
            refusal(format!("`{setting}`: there is no namespace `{namespace}`{hint}"))
        })?;
    let key = KEYS.iter().find(|row| row.name == key).ok_or_else(|| {
        let hint = suggest::closest(key, KEYS.iter().map(|row| row.name));
        refusal(format!("`{setting}`: there is no key `{key}`{hint}"))
    })?;
    (key.set)(config, value.trim()).map_err(|text| refusal(format!("`{setting}`: {text}")))
}

/// Splits `namespace.NAME.KEY`; a key may hold dots, a namespace here may not.
fn split_name(name: &str) -> Result<(&str, &str), Error> {
    let parts = name.strip_prefix("namespace.").and_then(|rest| rest.split_once('.'));
    parts.ok_or_else(|| {
        refusal(format!("`{name}` is no setting; settings are called namespace.NAME.KEY"))
    })
}

fn refusal(text: String) -> Error {
    Error::new(ResultCode::Parameter, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_engine::Durability;

    fn applied(setting: &str) -> Result<NamespaceConfig, String> {
        let mut namespaces = [NamespaceConfig::new("test"), NamespaceConfig::new("bar")];
        apply(setting, &mut namespaces).map_err(|error| error.message.into_owned())?;
        let [test, _] = namespaces;
        Ok(test)
    }

    #[test]
    fn every_key_takes_its_default_and_shows_it() {
        for key in KEYS {
            let setting = format!("namespace.test.{}={}", key.name, key.default);
            let config = applied(&setting).unwrap();
            let fresh = NamespaceConfig::new("test");
            assert_eq!(format!("{config:?}"), format!("{fresh:?}"), "{}", key.name);
        }
    }

    #[test]
    fn values_reach_the_configuration() {
        assert_eq!(applied("namespace.test.nsup-period=2m").unwrap().nsup_period_s, 120);
        assert!(
            !applied("namespace.test.allow-ttl-without-nsup=false").unwrap().allow_ttl_without_nsup
        );
        assert_eq!(applied("namespace.test.max-record-size=8M").unwrap().max_record_size, 8 << 20);
        assert_eq!(applied("namespace.test.storage.size=2GiB").unwrap().storage_size, 2 << 30);
        assert_eq!(applied("namespace.test.durability=none").unwrap().durability, Durability::None);
        let config = applied("namespace.test.transaction-pending-limit=20").unwrap();
        assert_eq!(config.transaction_pending_limit, 20);
    }

    #[test]
    fn refusals_name_the_thing_and_the_way_out() {
        let refused = |setting: &str, parts: &[&str]| {
            let text = applied(setting).unwrap_err();
            for part in parts {
                assert!(text.contains(part), "`{text}` should contain `{part}`");
            }
        };
        refused("default-ttl", &["KEY=VALUE"]);
        refused("default-ttl=1", &["namespace.NAME.KEY"]);
        refused("namespace.tset.default-ttl=1", &["tset", "did you mean `test`"]);
        refused("namespace.test.nsup-perod=1", &["did you mean `nsup-period`"]);
        refused("namespace.test.default-ttl=soon", &["soon", "seconds"]);
        refused("namespace.test.allow-ttl-without-nsup=maybe", &["true or false"]);
        refused("namespace.test.max-record-size=12X", &["12X", "bytes"]);
        refused("namespace.test.durability=comit", &["none"]);
    }
}
