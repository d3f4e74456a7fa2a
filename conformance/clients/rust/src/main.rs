//! Single-record commands through the official Rust client: `cairn-conformance HOST:PORT`

mod checks;

use std::process::ExitCode;
use std::time::Duration;

use aerospike::operations as op;
use aerospike::operations::lists::ListPolicy;
use aerospike::operations::maps::{MapPolicy, MapReturnType};
use aerospike::{
    BatchOperation, BatchPolicy, BatchReadPolicy, Bins, Client, ClientPolicy, Expiration,
    GenerationPolicy, Key, ReadPolicy, Record, RecordExistsAction, ResultCode, Value, WritePolicy,
    as_bin, as_blob, as_geo, as_key, as_list, as_map, as_val, expressions,
};
use checks::Checks;

type Result<T = ()> = std::result::Result<T, aerospike::Error>;

fn key(name: impl Into<Value>) -> Key {
    as_key!("test", "rust", name.into())
}

async fn get(client: &Client, key: &Key) -> Result<Record> {
    client.get(&ReadPolicy::default(), key, Bins::All).await
}

async fn put(client: &Client, key: &Key, name: &str, value: impl Into<Value>) -> Result {
    client.put(&WritePolicy::default(), key, &[as_bin!(name, value.into())]).await
}

async fn exists(client: &Client, key: &Key) -> Result<bool> {
    client.exists(&ReadPolicy::default(), key).await
}

async fn values_come_back(client: &Client, checks: &mut Checks) -> Result {
    let values = [
        Value::from(0),
        Value::from(-1),
        Value::from(i64::MAX),
        Value::from(i64::MIN),
        Value::from(1.5),
        Value::from(-1e300),
        Value::from(""),
        Value::from("é漢字🙂"),
        Value::from("x".repeat(70_000)),
        Value::from(true),
        Value::from(false),
        as_blob!(vec![0u8, 255]),
        as_blob!(vec![7u8; 300]),
        as_list![1, "a", 1.5, true],
        as_list![as_list![], as_list![as_list![]]],
        as_map!("a" => 1, "b" => 2),
        as_map!(1 => "x", 2 => as_list![1, 2]),
    ];
    for (place, value) in values.into_iter().enumerate() {
        let key = key(format!("value-{place}"));
        put(client, &key, "v", value.clone()).await?;
        let record = get(client, &key).await?;
        checks.equal(&format!("value {place}"), record.bins.get("v"), Some(&value));
        checks.equal("generation", record.generation, 1);
    }
    Ok(())
}

async fn geojson_comes_back(client: &Client, checks: &mut Checks) -> Result {
    let point = as_geo!(r#"{"type":"Point","coordinates":[17.119381,19.45612]}"#);
    put(client, &key("geo"), "g", point.clone()).await?;
    checks.equal("point", get(client, &key("geo")).await?.bins.get("g"), Some(&point));
    let refused = put(client, &key("geo"), "g", as_geo!(r#"{"type":"Nonsense"}"#)).await;
    checks.refused("bad GeoJSON", refused, ResultCode::InvalidGeojson);
    Ok(())
}

async fn keys_of_every_type(client: &Client, checks: &mut Checks) -> Result {
    let names = [
        Value::from("k"),
        Value::from("é"),
        Value::from("x".repeat(1000)),
        Value::from(0),
        Value::from(-1),
        Value::from(i64::MAX),
        as_blob!(vec![0u8]),
        as_blob!(b"k".to_vec()),
    ];
    for (place, name) in names.iter().enumerate() {
        put(client, &key(name.clone()), "place", place as i64).await?;
    }
    for (place, name) in names.iter().enumerate() {
        let record = get(client, &key(name.clone())).await?;
        checks.equal("place", record.bins.get("place"), Some(&Value::from(place as i64)));
    }
    let other = as_key!("bar", "rust", "k");
    put(client, &other, "place", "bar").await?;
    checks.equal("bar", get(client, &other).await?.bins.get("place"), Some(&Value::from("bar")));
    let send = WritePolicy { send_key: true, ..WritePolicy::default() };
    client.put(&send, &key("sent"), &[as_bin!("a", 1)]).await?;
    checks.equal("key sent", get(client, &key("sent")).await?.bins.len(), 1);
    Ok(())
}

async fn existence_and_removal(client: &Client, checks: &mut Checks) -> Result {
    let (key, policy) = (key("there"), WritePolicy::default());
    checks.equal("absent", exists(client, &key).await?, false);
    checks.refused("get", get(client, &key).await, ResultCode::KeyNotFoundError);
    checks.refused("touch", client.touch(&policy, &key).await, ResultCode::KeyNotFoundError);
    checks.equal("remove of nothing", client.delete(&policy, &key).await?, false);
    client.put(&policy, &key, &[as_bin!("a", 1), as_bin!("b", 2)]).await?;
    checks.equal("present", exists(client, &key).await?, true);
    let some = client.get(&ReadPolicy::default(), &key, Bins::from(["b", "zz"])).await?;
    checks.equal("some bins", some.bins.len(), 1);
    let none = client.get(&ReadPolicy::default(), &key, Bins::None).await?;
    checks.equal("no bins", (none.bins.len(), none.generation), (0, 1));
    client.touch(&policy, &key).await?;
    checks.equal("touched", get(client, &key).await?.generation, 2);
    checks.equal("remove", client.delete(&policy, &key).await?, true);
    checks.equal("removed", exists(client, &key).await?, false);
    Ok(())
}

async fn bins_merge_and_go(client: &Client, checks: &mut Checks) -> Result {
    let (key, policy) = (key("merge"), WritePolicy::default());
    client.put(&policy, &key, &[as_bin!("a", 1), as_bin!("b", 2)]).await?;
    client.put(&policy, &key, &[as_bin!("b", 3), as_bin!("c", 4)]).await?;
    let bins = get(client, &key).await?.bins;
    checks.equal("merged", (bins.len(), bins.get("b")), (3, Some(&Value::from(3))));
    client.put(&policy, &key, &[as_bin!("a", None)]).await?;
    checks.equal("bin set to nil", get(client, &key).await?.bins.len(), 2);
    client.put(&policy, &key, &[as_bin!("b", None), as_bin!("c", None)]).await?;
    checks.equal("the last bin takes the record along", exists(client, &key).await?, false);
    let many: Vec<_> = (0..300).map(|i| as_bin!(format!("bin{i}"), i)).collect();
    client.put(&policy, &key, &many).await?;
    checks.equal("300 bins", get(client, &key).await?.bins.len(), 300);
    Ok(())
}

async fn scalar_operations(client: &Client, checks: &mut Checks) -> Result {
    let (key, policy) = (key("scalar"), WritePolicy::default());
    client.put(&policy, &key, &[as_bin!("i", 5), as_bin!("s", "mid")]).await?;
    client.add(&policy, &key, &[as_bin!("i", -7)]).await?;
    client.append(&policy, &key, &[as_bin!("s", "-end")]).await?;
    client.prepend(&policy, &key, &[as_bin!("s", "start-")]).await?;
    let bins = get(client, &key).await?.bins;
    checks.equal("increment", bins.get("i"), Some(&Value::from(-2)));
    checks.equal("append, prepend", bins.get("s"), Some(&Value::from("start-mid-end")));
    let refused = client.append(&policy, &key, &[as_bin!("i", "x")]).await;
    checks.refused("append to a number", refused, ResultCode::BinTypeError);
    let ops = [op::add(&as_bin!("i", 12)), op::get_bin("i"), op::put(&as_bin!("n", 1)), op::get()];
    let bins = client.operate(&policy, &key, &ops).await?.bins;
    checks.equal("read after write", bins.get("n"), Some(&Value::from(1)));
    let ops = [op::put(&as_bin!("n", 2)), op::append(&as_bin!("i", "x"))];
    let refused = client.operate(&policy, &key, &ops).await;
    checks.refused("one failure", refused, ResultCode::BinTypeError);
    checks.equal("fails all", get(client, &key).await?.bins.get("n"), Some(&Value::from(1)));
    let bins = client.operate(&policy, &key, &[op::get_bin("i"), op::delete()]).await?.bins;
    checks.equal("read and delete", bins.get("i"), Some(&Value::from(10)));
    checks.equal("gone", exists(client, &key).await?, false);
    Ok(())
}

async fn policies(client: &Client, checks: &mut Checks) -> Result {
    let key = key("policies");
    let on_exists = |action| WritePolicy { record_exists_action: action, ..WritePolicy::default() };
    let bins = [as_bin!("a", 1)];
    for action in [RecordExistsAction::UpdateOnly, RecordExistsAction::ReplaceOnly] {
        let refused = client.put(&on_exists(action), &key, &bins).await;
        checks.refused("absent", refused, ResultCode::KeyNotFoundError);
    }
    let create = on_exists(RecordExistsAction::CreateOnly);
    client.put(&create, &key, &[as_bin!("a", 1), as_bin!("b", 2)]).await?;
    let refused = client.put(&create, &key, &bins).await;
    checks.refused("present", refused, ResultCode::KeyExistsError);
    client.put(&on_exists(RecordExistsAction::UpdateOnly), &key, &bins).await?;
    checks.equal("update keeps the others", get(client, &key).await?.bins.len(), 2);
    client.put(&on_exists(RecordExistsAction::Replace), &key, &bins).await?;
    checks.equal("replace drops them", get(client, &key).await?.bins.len(), 1);
    let generation = |policy, number| {
        let mut write = WritePolicy::new(number, Expiration::NamespaceDefault);
        write.generation_policy = policy;
        write
    };
    let stale = generation(GenerationPolicy::ExpectGenEqual, 1);
    let refused = client.put(&stale, &key, &bins).await;
    checks.refused("older generation", refused, ResultCode::GenerationError);
    client.put(&generation(GenerationPolicy::ExpectGenEqual, 3), &key, &bins).await?;
    client.put(&generation(GenerationPolicy::ExpectGenGreater, 9), &key, &bins).await?;
    checks.equal("generation", get(client, &key).await?.generation, 5);
    Ok(())
}

async fn times_to_live(client: &Client, checks: &mut Checks) -> Result {
    let key = key("ttl");
    let bins = [as_bin!("a", 1)];
    let with = |expiration| WritePolicy::new(0, expiration);
    client.put(&with(Expiration::Seconds(100)), &key, &bins).await?;
    let ttl = get(client, &key).await?.time_to_live().unwrap_or_default();
    checks.equal("seconds", (97..=100).contains(&ttl.as_secs()), true);
    client.put(&with(Expiration::DontUpdate), &key, &bins).await?;
    let ttl = get(client, &key).await?.time_to_live().unwrap_or_default();
    checks.equal("kept by a write", (90..=100).contains(&ttl.as_secs()), true);
    client.put(&with(Expiration::Never), &key, &bins).await?;
    checks.equal("never", get(client, &key).await?.time_to_live(), None);
    client.put(&with(Expiration::Seconds(1)), &key, &bins).await?;
    tokio::time::sleep(Duration::from_millis(2100)).await;
    checks.refused("expired", get(client, &key).await, ResultCode::KeyNotFoundError);
    Ok(())
}

async fn batches_answer_per_key(client: &Client, checks: &mut Checks) -> Result {
    for i in 0..20 {
        put(client, &key(format!("batch-{i}")), "i", i).await?;
    }
    let read = |i| {
        let key = key(format!("batch-{i}"));
        BatchOperation::read(&BatchReadPolicy::default(), key, Bins::All)
    };
    let mut rows: Vec<_> = (0..21).map(read).collect();
    client.batch(&BatchPolicy::default(), &mut rows).await?;
    for (i, row) in rows[..20].iter().enumerate() {
        let found = row.record().and_then(|record| record.bins.get("i"));
        checks.equal("row", found, Some(&Value::from(i as i64)));
    }
    checks.equal("a missing row", rows[20].result_code(), Some(ResultCode::KeyNotFoundError));
    Ok(())
}

async fn lists_and_maps_from_inside(client: &Client, checks: &mut Checks) -> Result {
    let (key, policy) = (key("inside"), WritePolicy::default());
    let items = vec![Value::from(5), Value::from(3), Value::from(9)];
    let ops = [op::lists::append_items(&ListPolicy::default(), "l", items), op::get_bin("l")];
    client.operate(&policy, &key, &ops).await?;
    let page = client.operate(&policy, &key, &[op::lists::get_range("l", 1, 2)]).await?;
    checks.equal("page", page.bins.get("l"), Some(&as_list![3, 9]));
    let put = |k: &str, v: i64| op::maps::put(&MapPolicy::default(), "m", k.into(), v.into());
    client.operate(&policy, &key, &[put("a", 1), put("b", 2)]).await?;
    let get = op::maps::get_by_key("m", "b".into(), MapReturnType::VALUE);
    let found = client.operate(&policy, &key, &[get]).await?;
    checks.equal("by key", found.bins.get("m"), Some(&Value::from(2)));
    let mut filtered = ReadPolicy::default();
    let few = expressions::lt(expressions::int_bin("n".to_string()), expressions::int_val(3));
    filtered.base_policy.filter_expression = Some(few);
    let refused = client.get(&filtered, &key, Bins::All).await;
    checks.refused("filter on a missing bin", refused, ResultCode::FilteredOut);
    Ok(())
}

async fn refusals(client: &Client, checks: &mut Checks) -> Result {
    let big = put(client, &key("big"), "a", as_blob!(vec![0u8; 2 << 20])).await;
    checks.refused("2 MiB in a record of 1 MiB", big, ResultCode::RecordTooBig);
    checks.equal("nothing was written", exists(client, &key("big")).await?, false);
    let name = put(client, &key("name"), "sixteen.bytes.nm", 1).await;
    checks.equal("16 bytes of bin name", name.is_err(), true);
    let nowhere = put(client, &as_key!("nowhere", "rust", 1), "a", 1).await;
    checks.equal("unknown namespace", nowhere.is_err(), true);
    Ok(())
}

#[tokio::main]
async fn main() -> ExitCode {
    let Some(address) = std::env::args().nth(1) else {
        eprintln!("usage: cairn-conformance HOST:PORT");
        return ExitCode::from(2);
    };
    let client = match Client::new(&ClientPolicy::default(), &address).await {
        Ok(client) => client,
        Err(error) => {
            eprintln!("cannot connect to {address}: {error}");
            return ExitCode::from(2);
        }
    };
    let mut checks = Checks::default();
    macro_rules! sections {
        ($($section:ident)*) => {$(
            checks.section(stringify!($section));
            if let Err(error) = $section(&client, &mut checks).await {
                checks.equal("runs to its end", error.to_string(), String::new());
            }
        )*};
    }
    sections!(values_come_back geojson_comes_back keys_of_every_type existence_and_removal
        bins_merge_and_go scalar_operations policies times_to_live batches_answer_per_key
        lists_and_maps_from_inside refusals);
    checks.finish()
}
